// The one import of zod for the API: the same schemas check requests and describe them in the OpenAPI document.
import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';

extendZodWithOpenApi(z);

export { z };
