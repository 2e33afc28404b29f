// Who is sent to when: places, turns, the slow lane, leases that grow stale. The clock and the sending are the test's.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LeasedDelivery } from '../../../models/outbox.ts';
import { createLanes, type Lanes, limits } from '../../../webhooks/lanes.ts';

interface Sent {
  readonly id: string;
  readonly endpointId: string;
  end(slow: boolean): Promise<void>;
}
let sent: Sent[];
let returned: string[];
let lanes: Lanes;
let n = 0;

function aDelivery(endpointId: string, fields: Partial<LeasedDelivery> = {}): LeasedDelivery {
  return { id: `dlv_${++n}`, endpointId, slow: false, ...fields } as LeasedDelivery;
}
const inFlight = (endpointId: string): Sent[] => sent.filter((one) => one.endpointId === endpointId);

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  returned = [];
  lanes = createLanes({
    nowMs: () => Date.now(),
    giveBack: (delivery) => void returned.push(delivery.id),
    send: ({ id, endpointId }) =>
      new Promise((resolve) => {
        const entry: Sent = {
          id,
          endpointId,
          async end(slow) {
            sent.splice(sent.indexOf(entry), 1);
            resolve(slow);
            await vi.advanceTimersByTimeAsync(0);
          },
        };
        sent.push(entry);
      }),
  });
});
afterEach(() => {
  lanes.close();
  vi.useRealTimers();
});

describe('an endpoint', () => {
  test('gets one place until it has answered, then four', async () => {
    for (let i = 0; i < 10; i++) lanes.push(aDelivery('we_a'));
    expect(sent).toHaveLength(1);
    await sent[0]!.end(false);
    expect(sent).toHaveLength(limits.perEndpoint);
  });

  test('falls back to one place when it turns slow', async () => {
    for (let i = 0; i < 20; i++) lanes.push(aDelivery('we_a'));
    await sent[0]!.end(false);
    await sent[0]!.end(true);
    while (sent.length > 1) await sent[0]!.end(true);
    expect(sent).toHaveLength(1);
  });

  test('with a long queue takes turns with the others', async () => {
    for (let i = 0; i < 200; i++) lanes.push(aDelivery('we_long'));
    for (let i = 0; i < limits.inFlight * 2; i++) lanes.push(aDelivery(`we_${i}`));
    expect(sent).toHaveLength(limits.inFlight);
    await inFlight('we_long')[0]!.end(false);
    // Its next ones wait until those who stand before it have had their turn.
    expect(inFlight('we_long')).toHaveLength(0);
  });
});

describe('the lanes', () => {
  test('hold 64 quick ones and eight slow ones in flight', () => {
    for (let i = 0; i < 100; i++) lanes.push(aDelivery(`we_quick${i}`));
    for (let i = 0; i < 100; i++) lanes.push(aDelivery(`we_slow${i}`, { slow: true }));
    expect(sent.filter((one) => one.endpointId.startsWith('we_quick'))).toHaveLength(limits.inFlight);
    expect(sent.filter((one) => one.endpointId.startsWith('we_slow'))).toHaveLength(limits.inFlightSlow);
  });

  test('an attempt that takes over a second gives up its place to others', async () => {
    for (let i = 0; i < limits.inFlight + 5; i++) lanes.push(aDelivery(`we_${i}`));
    expect(sent).toHaveLength(limits.inFlight);
    await vi.advanceTimersByTimeAsync(1500);
    expect(sent).toHaveLength(limits.inFlight + 5);
    // And its endpoint is slow from now on: its next one waits in the small lane, behind the one in flight.
    lanes.push(aDelivery('we_0'));
    expect(inFlight('we_0')).toHaveLength(1);
  });

  test('what waits longer than its lease allows is given back', async () => {
    lanes.push(aDelivery('we_a'));
    const waiting = aDelivery('we_a');
    lanes.push(waiting);
    await vi.advanceTimersByTimeAsync(3900);
    expect(returned).toEqual([]);
    await vi.advanceTimersByTimeAsync(500);
    expect(returned).toEqual([waiting.id]);
  });

  test('refuse what finds no room', () => {
    for (let i = 0; i < limits.queuedPerEndpoint + 1; i++) expect(lanes.push(aDelivery('we_a'))).toBe(true);
    expect(lanes.push(aDelivery('we_a'))).toBe(false);
    expect(lanes.push(aDelivery('we_b'))).toBe(true);
  });

  test('count the attempts of workflows with the direct ones', async () => {
    const leave = lanes.enter('we_a', false);
    expect(leave).not.toBeNull();
    expect(lanes.enter('we_a', false)).toBeNull();
    lanes.push(aDelivery('we_a'));
    expect(sent).toHaveLength(0);
    leave!(false);
    expect(sent).toHaveLength(1);
  });

  test('closed give back the queue and start nothing more', async () => {
    for (let i = 0; i < 3; i++) lanes.push(aDelivery('we_a'));
    expect(lanes.close()).toHaveLength(2);
    await sent[0]!.end(false);
    expect(sent).toHaveLength(0);
    expect(lanes.push(aDelivery('we_b'))).toBe(false);
    expect(lanes.enter('we_b', false)).toBeNull();
  });
});
