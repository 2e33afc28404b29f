// Every recorded history replays with today's workflow code: what runs in production now goes on after an upgrade.
import { readdirSync, readFileSync } from 'node:fs';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { bundledWorkflows } from '../../cli/workflow-bundle.ts';

const folder = new URL('./recorded/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.bin'));

it('replays the recorded history of every way a session can go', async () => {
  const histories = files.map((name) => ({
    workflowId: name,
    history: proto.temporal.api.history.v1.History.decode(readFileSync(new URL(name, folder))),
  }));
  expect(histories.length).toBeGreaterThanOrEqual(6);
  const replayed: string[] = [];
  for await (const result of Worker.runReplayHistories({ workflowBundle: { codePath: await bundledWorkflows() } }, histories)) {
    expect(result.error, result.workflowId).toBeUndefined();
    replayed.push(result.workflowId);
  }
  expect(replayed.toSorted()).toEqual(files.toSorted());
});

it('notices a history that today\'s code would not have made', async () => {
  const name = files.find((file) => file.endsWith('-paid.bin')) ?? '';
  const history = proto.temporal.api.history.v1.History.decode(readFileSync(new URL(name, folder)));
  const marker = history.events?.find((event) => event.markerRecordedEventAttributes);
  expect(marker).toBeDefined();
  const broken = { ...history, events: history.events?.filter((event) => event !== marker) ?? [] };
  const results = [];
  for await (const result of Worker.runReplayHistories({ workflowBundle: { codePath: await bundledWorkflows() } }, [{ workflowId: name, history: broken }])) results.push(result);
  expect(results[0]?.error).toBeDefined();
});
