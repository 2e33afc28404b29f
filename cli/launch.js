// @ts-check
// Runs an entry point of this project as plain JavaScript: `node cli/launch.js cli/start.ts`. The sources are bundled once
// for each state they are in and kept under a hash of it; compiling while running would cost a loader thread and 40 MB in
// every process. Knows nothing of what it starts.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['activities', 'api', 'cli', 'domain', 'gateways', 'migrations', 'models', 'operations', 'pages', 'platform', 'presenters', 'simulator', 'temporal', 'webhooks', 'workers', 'workflows'];
const keptBuilds = 6;

const [entry] = process.argv.slice(2);
if (entry === undefined || !existsSync(join(root, entry))) throw new Error('usage: node cli/launch.js <entry point>');
const script = await built(entry);
// The entry point sees the arguments as if it had been called itself.
process.argv.splice(1, 2, join(root, entry));
process.setSourceMapsEnabled(true);
await import(pathToFileURL(script).href);

/**
 * @param {string} source entry point, relative to the project
 * @returns {Promise<string>} path of the script
 */
async function built(source) {
  const folder = cacheFolder();
  const name = source.replaceAll(/[^a-z]+/g, '-');
  const file = join(folder, `${name}-${sourceHash()}.mjs`);
  if (existsSync(file)) return file;
  const { build, stop } = await import('esbuild');
  // Two processes may build at once: each writes its own and the last one to be renamed stays, with the same content.
  const building = join(folder, `${name}-${randomBytes(4).toString('hex')}.new.mjs`);
  await build({
    entryPoints: [join(root, source)],
    outfile: building,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    keepNames: true,
    logLevel: 'error',
    plugins: [{ name: 'own addresses', setup: keepAddresses }],
  });
  await stop();
  renameSync(building, file);
  dropOldBuilds(folder, name);
  return file;
}

/**
 * Files find their neighbours (assets, child scripts) by their own address, which must stay that of the source.
 * @param {import('esbuild').PluginBuild} build
 */
function keepAddresses(build) {
  build.onLoad({ filter: /\.tsx?$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    loader: path.endsWith('x') ? 'tsx' : 'ts',
  }));
}

function sourceHash() {
  const hash = createHash('sha256').update(process.version);
  for (const folder of folders) {
    const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((item) => item.isFile() && /\.(tsx?|json)$/.test(item.name));
    for (const path of files.map((item) => join(item.parentPath, item.name)).sort()) hash.update(`\0${path}\0`).update(readFileSync(path));
  }
  for (const file of ['package.json', 'tsconfig.json', 'cli/launch.js']) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 20);
}

function cacheFolder() {
  const folder = join(root, '.cache');
  try {
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch {
    // An installation nobody may write to. Packages are found from the project, so the script must be able to see them.
    const elsewhere = join(tmpdir(), `payment-checkout-service-${process.getuid?.() ?? 0}`);
    mkdirSync(elsewhere, { recursive: true, mode: 0o700 });
    return elsewhere;
  }
}

/**
 * @param {string} folder
 * @param {string} name
 */
function dropOldBuilds(folder, name) {
  const builds = readdirSync(folder)
    .filter((item) => item.startsWith(`${name}-`) && item.endsWith('.mjs') && !item.endsWith('.new.mjs'))
    .map((item) => ({ path: join(folder, item), at: statSync(join(folder, item)).mtimeMs }));
  for (const { path } of builds.sort((a, b) => b.at - a.at).slice(keptBuilds)) rmSync(path, { force: true });
}
