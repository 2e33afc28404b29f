// Child of cli/workflow-bundle.ts: bundles the module named first into the file named second, complaints on stderr.
import { writeFileSync } from 'node:fs';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const [entry, target] = process.argv.slice(2);
if (entry === undefined || target === undefined) throw new Error('usage: workflow-bundle-child <entry> <target>');
const logger = new DefaultLogger('WARN', ({ level, message }) => void process.stderr.write(`${level} ${message}\n`));
const { code } = await bundleWorkflowCode({ workflowsPath: entry, logger });
writeFileSync(target, code);
