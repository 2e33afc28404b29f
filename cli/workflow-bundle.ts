// The workflow code as Temporal's worker wants it: one script. Bundling takes seconds and 200 MB, so a child process does
// it, and the result is kept under a hash of its sources.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// Everything a workflow may import, by the arrows of the architecture.
const sources = ['workflows', 'temporal', 'domain'];
const libraries = ['@temporalio/workflow', '@temporalio/worker', '@temporalio/common'];

/**
 * Path of the bundled workflows, for the worker option `workflowBundle: { codePath }`.
 * @param entry the module that exports all workflows, relative to the project
 */
export async function bundledWorkflows(entry = 'workflows/index.ts'): Promise<string> {
  const folder = cacheFolder();
  const file = join(folder, `workflows-${sourceHash(entry)}.js`);
  if (existsSync(file)) return file;
  // Two processes may bundle at once: each writes its own and the last one to be renamed stays, with the same content.
  const building = `${file}.${randomBytes(4).toString('hex')}.new`;
  await bundleInChild(join(root, entry), building);
  renameSync(building, file);
  dropOldBundles(folder);
  return file;
}

function cacheFolder(): string {
  const inProject = join(root, '.cache');
  try {
    mkdirSync(inProject, { recursive: true });
    return inProject;
  } catch {
    // An installation nobody may write to, such as a container image.
    const elsewhere = join(tmpdir(), `payment-checkout-service-${process.getuid?.() ?? 0}`);
    mkdirSync(elsewhere, { recursive: true, mode: 0o700 });
    return elsewhere;
  }
}

function sourceHash(entry: string): string {
  const hash = createHash('sha256').update(entry);
  for (const folder of sources) {
    const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((item) => item.isFile());
    for (const path of files.map((item) => join(item.parentPath, item.name)).toSorted()) hash.update(`\0${relative(root, path)}\0`).update(readFileSync(path));
  }
  for (const library of libraries) hash.update(readFileSync(join(root, 'node_modules', library, 'package.json')));
  return hash.digest('hex').slice(0, 20);
}

function bundleInChild(entry: string, target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const child = spawn(process.execPath, ['--import', 'tsx', join(root, 'cli/workflow-bundle-child.ts'), entry, target], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-8_000);
    });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`The workflows could not be bundled:\n${said.trim()}`))));
  });
}

const keptBundles = 5;

function dropOldBundles(folder: string): void {
  const bundles = readdirSync(folder).filter((name) => /^workflows-[0-9a-f]+\.js$/.test(name)).map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }));
  for (const { path } of bundles.toSorted((a, b) => b.at - a.at).slice(keptBundles)) rmSync(path, { force: true });
}
