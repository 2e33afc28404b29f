// One round sign per state. Decoration: the heading beside it says the same in words.
const strokes = {
  done: 'M15 24.500l6 6 12-13',
  refused: 'M17 17l14 14M31 17l-14 14',
  expired: 'M24 15v9.500l6 4',
  cancelled: 'M16 24h16',
  bank: 'M15 21l9-6 9 6zM18 24v7M24 24v7M30 24v7M15 34h18',
} as const;

export function StatusIcon({ kind }: { kind: keyof typeof strokes | 'waiting' }) {
  if (kind === 'waiting') return <span class="status-icon spinner spinner-large" aria-hidden="true" />;
  return (
    <svg class={`status-icon icon-${kind}`} viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
      <circle cx="24" cy="24" r="24" />
      <path d={strokes[kind]} fill="none" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
