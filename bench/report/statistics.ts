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
 * The confidence interval (95 %) of the median: the narrowest pair of order statistics, which
 * assumes nothing about the distribution. Of fewer than six values it is the lowest and the
 * highest, which promise less. NaN of none.
 */
export function medianInterval(values: readonly number[]): readonly [low: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  // The chance that at most `left` of the values are below the median, as of heads in coin tosses.
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
