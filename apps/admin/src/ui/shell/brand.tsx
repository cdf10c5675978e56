export function BrandMark() {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <rect x="1" y="1" width="8" height="8" rx="2" fill="var(--ink)" />
      <rect x="1" y="11" width="8" height="8" rx="2" fill="var(--ink)" />
      <rect x="11" y="11" width="8" height="8" rx="2" fill="var(--ink)" />
      <rect
        x="12.6"
        y="0.6"
        width="7"
        height="7"
        rx="1.8"
        fill="none"
        stroke="var(--accent)"
        strokeWidth="1.5"
        strokeDasharray="2.2 1.6"
      />
    </svg>
  );
}
