// Figures as a person reads them in a terminal.
import type { Measured } from './rows/single.ts';
import type { Compared, Summary } from './rounds.ts';

const fixed = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : '-');
const verdict = (good: boolean): string => (good ? 'ok' : 'MISSED');

export function describeCompared(result: Compared): string {
  const { ours, floors } = result;
  const head = `${result.title}, ${result.callers} caller${result.callers === 1 ? '' : 's'}   rounds ${result.rounds - result.dropped} kept, ${result.dropped} dropped, foreign CPU ${fixed(result.foreignShare * 100, 0)}%${result.noisy ? '   NOISY: no calm round, figures of the calmest' : ''}`;
  const lines = [...floors, ours].map((side) => `  ${side.name.padEnd(38)} ${describeSide(side)}`);
  const ratios = floors.map(
    (floor) =>
      `  ratio to ${floor.name}: ${fixed(floor.ratio, 2)}${floor.goal === null ? '' : ` (goal ${floor.goal}, ${verdict(floor.ratio >= floor.goal)})`}, CPU ${fixed(floor.cpuRatio, 2)}x${floor.cpuGoal === null ? '' : ` (goal ${floor.cpuGoal}x, ${verdict(floor.cpuRatio <= floor.cpuGoal)})`}`,
  );
  return [head, ...lines, ...ratios, ...[...floors, ours].flatMap((side) => side.complaints.map((text) => `  ! ${side.name}: ${text}`))].join('\n');
}

function describeSide(side: Summary): string {
  const cpu = Object.entries(side.cpuMs).filter(([, ms]) => ms >= 0.005).map(([name, ms]) => `${name} ${fixed(ms, ms < 1 ? 2 : 1)}`).join(', ');
  return `${fixed(side.perSecond, 0).padStart(6)}/s  p50 ${fixed(side.p50Ms, 1)} p95 ${fixed(side.p95Ms, 1)} p99 ${fixed(side.p99Ms, 1)} ms  CPU ms/op ${fixed(side.cpuTotalMs, 2)} (${cpu})${side.errors === 0 ? '' : `  ${side.errors} ERRORS`}`;
}

export function describeMeasured(result: Measured): string {
  const figures = Object.entries(result.figures).map(([name, value]) => `${name} ${fixed(value, Number.isInteger(value) ? 0 : 2)}`);
  return [
    result.title,
    `  ${figures.join('  ')}`,
    ...result.goals.map(({ what, value, limit }) => `  ${what}: ${fixed(value, 1)} (at most ${limit}, ${verdict(value <= limit)})`),
    ...result.notes.map((note) => `  ! ${note}`),
  ].join('\n');
}
