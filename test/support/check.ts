// `npm run check`: types, lint and unit tests side by side, under 30 s. Prints the output of what failed, and nothing
// else of length.
import { spawn } from 'node:child_process';

interface Part {
  readonly name: string;
  readonly command: readonly string[];
}

const bin = 'node_modules/.bin';
const parts: readonly Part[] = [
  { name: 'types', command: [`${bin}/tsc`, '--noEmit', '-p', '.'] },
  { name: 'lint', command: [`${bin}/oxlint`, '--type-aware', '--deny-warnings'] },
  { name: 'unit tests', command: [`${bin}/vitest`, 'run', '--project', 'unit', '--reporter=dot'] },
];

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly output: string;
  readonly seconds: string;
}

function run(part: Part): Promise<Result> {
  const begun = Date.now();
  return new Promise((resolve) => {
    const [command, ...args] = part.command as [string, ...string[]];
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, FORCE_COLOR: '0' } });
    const chunks: Buffer[] = [];
    const end = (ok: boolean): void => resolve({ name: part.name, ok, output: Buffer.concat(chunks).toString('utf8').trim(), seconds: ((Date.now() - begun) / 1000).toFixed(1) });
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', (error) => {
      chunks.push(Buffer.from(error.message));
      end(false);
    });
    child.once('close', (code) => end(code === 0));
  });
}

const results = await Promise.all(parts.map(run));
for (const { name, output } of results.filter((result) => !result.ok)) process.stdout.write(`\n── ${name} ──\n${output}\n`);
process.stdout.write(`\n${results.map(({ name, ok, seconds }) => `${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`).join('\n')}\n`);
process.exitCode = results.every((result) => result.ok) ? 0 : 1;
