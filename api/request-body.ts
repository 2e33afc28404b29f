// Reads a JSON body within its limit, plain or gzipped. An empty body is {}. Knows nothing of what the body should hold.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DomainError } from '../domain/errors.ts';

/** Bytes of a body, after inflation too. */
export const bodyLimitBytes = 256 * 1024;
/** Bytes beyond the limit that are still read and thrown away, so that the caller sees the answer and not a reset. */
const patienceBytes = 8 * 1024 * 1024;
const patienceMs = 2_000;

const inflate = promisify(gunzip);

/** @throws DomainError payload_too_large, unsupported_media_type, malformed_json; request_timeout when the caller went away */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBytes(request, bodyLimitBytes);
  if (bytes.length === 0) return {};
  checkMediaType(request.headers['content-type']);
  const plain = await decode(bytes, request.headers['content-encoding']);
  if (plain.length === 0) return {};
  if (!isUtf8(plain)) throw new DomainError('malformed_json', 'The body is not UTF-8 text.');
  // A byte order mark is not JSON, but harmless (RFC 8259, section 8.1).
  const text = plain[0] === 0xef && plain[1] === 0xbb && plain[2] === 0xbf ? plain.toString('utf8', 3) : plain.toString('utf8');
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new DomainError('malformed_json', `The body is not valid JSON${positionOf(error)}.`);
  }
}

/** The body as it came, for whoever verifies its bytes. @throws DomainError payload_too_large, request_timeout */
export function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0);
    const chunks: Buffer[] = [];
    let size = 0;
    let tooLarge = declared > limitBytes;
    let timer: NodeJS.Timeout | undefined;
    const finish = (error: DomainError | null): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      // What may still come flows into nothing; the server closes the connection after the answer.
      request.on('error', () => undefined).resume();
      if (error === null) resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
      else reject(error);
    };
    const refuse = (): void => finish(new DomainError('payload_too_large', `The body may have at most ${limitBytes} bytes.`));
    const startPatience = (): void => {
      timer ??= setTimeout(refuse, patienceMs);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limitBytes && !tooLarge) {
        chunks.push(chunk);
        return;
      }
      tooLarge = true;
      chunks.length = 0;
      startPatience();
      if (size > patienceBytes) refuse();
    };
    const onEnd = (): void => (tooLarge ? refuse() : finish(null));
    const onGone = (): void => finish(new DomainError('request_timeout', 'The request ended before its body was complete.'));
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    if (tooLarge) startPatience();
  });
}

function checkMediaType(header: string | undefined): void {
  const [type, ...parameters] = (header ?? '').toLowerCase().split(';').map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))) return;
  throw new DomainError('unsupported_media_type', 'Send the body as JSON with the header "Content-Type: application/json" (UTF-8).');
}

async function decode(bytes: Buffer, encoding: string | undefined): Promise<Buffer> {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return bytes;
  if (encoding.toLowerCase() !== 'gzip') throw new DomainError('unsupported_media_type', 'The only Content-Encoding a body may have is gzip.');
  try {
    return await inflate(bytes, { maxOutputLength: bodyLimitBytes });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      throw new DomainError('payload_too_large', `The body may have at most ${bodyLimitBytes} bytes after decompression.`);
    }
    throw new DomainError('malformed_json', 'The body is not valid gzip.');
  }
}

/** Where the parser stopped; never the text around it, which may hold a card number. */
function positionOf(error: unknown): string {
  const at = error instanceof Error ? /at position (\d+)/.exec(error.message) : null;
  return at === null ? '' : `, at position ${at[1]}`;
}
