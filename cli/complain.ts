// The last word of a command that cannot go on: one message a person can act on, without a stack.
import { scrubText } from '../platform/scrub.ts';

/** Prints the error, secrets taken out, and ends the process with code 1. */
export function complain(error: unknown): never {
  process.stderr.write(`${scrubText(sentence(error))}\n`);
  process.exit(1);
}

// A refused connection is an AggregateError without a message of its own (one error per address tried).
function sentence(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(sentence).join('; ');
  return error instanceof Error ? error.message || error.name : String(error);
}
