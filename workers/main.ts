// `npm run worker`: the Temporal role alone, against a given Postgres and Temporal. Scaled by running more of them.
import { runRole } from '../cli/role.ts';

await runRole('worker');
