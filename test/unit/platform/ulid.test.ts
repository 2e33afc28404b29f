import { describe, expect, it } from 'vitest';
import { isId, makeId } from '../../../domain/id.ts';
import { ulid } from '../../../platform/ulid.ts';

describe('a ULID', () => {
  it('has the form ids are checked for, and none comes twice', () => {
    const ids = Array.from({ length: 20_000 }, () => makeId('session', ulid));
    expect(ids.every((id) => isId('session', id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('uses every letter about equally often in its random part', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 4_000; i++) for (const letter of ulid().slice(10)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(32);
    for (const count of counts.values()) expect(Math.abs(count - 2_000)).toBeLessThan(300);
  });
});
