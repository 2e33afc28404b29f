// Documents that are drawn from the code are compared with what would be drawn now.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { drawStates, statesFile } from '../../../docs/draw-states.ts';
import { drawTestCards, testCardsFile } from '../../../docs/draw-test-cards.ts';

describe('drawn documents', () => {
  it('docs/states.md shows the states of the domain tables: node --import tsx docs/draw-states.ts', () => {
    expect(readFileSync(statesFile, 'utf8')).toBe(drawStates());
  });

  it('docs/test-cards.md shows the table of test cards: node --import tsx docs/draw-test-cards.ts', () => {
    expect(readFileSync(testCardsFile, 'utf8')).toBe(drawTestCards());
  });
});
