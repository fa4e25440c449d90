/** The value below which the share `p` (0 to 1) of the values lies; NaN of none. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? Number.NaN;
}

/** The middle value, or the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

/**
 * Between which two of the values the median of all that could be measured lies, in at least 95 of 100 cases: the narrowest
 * pair of order statistics, which supposes nothing of how the values are spread. Of fewer than six, the lowest and the
 * highest, which promise less. NaN of none.
 */
export function medianInterval(values: readonly number[]): readonly [low: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  // The chance that so many of the values, or fewer, are below the median: that of heads.
  let exactly = 0.5 ** sorted.length;
  let atMost = exactly;
  let left = 0;
  while (atMost + exactly * ((sorted.length - left) / (left + 1)) <= 0.025) {
    left += 1;
    exactly *= (sorted.length - left + 1) / left;
    atMost += exactly;
  }
  return [sorted[left] ?? Number.NaN, sorted[sorted.length - 1 - left] ?? Number.NaN];
}
