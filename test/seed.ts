/**
 * What generated tests begin with: another number every day, so that they go on finding what a fixed one never would.
 * Their names say it, and `KONTOR_TEST_SEED` repeats a run of another day.
 */
export const SEED = Number(
  process.env['KONTOR_TEST_SEED'] ?? new Date().toISOString().slice(0, 10).replaceAll('-', ''),
);
