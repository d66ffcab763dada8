import { expect, test } from 'vitest';
import { changelogSections, changesBetween, compareVersions } from './changelog.ts';

const CHANGELOG = `# Changelog

## Unreleased

- Not yet.

## 1.10.0 (2027-03-01)

- Ten.

## 1.9.1 (2027-02-01)

### API

- Nine, repaired.

## 1.9.0 (2027-01-01)

- Nine.
`;

test('versions are compared by number', () => {
  const order = ['0.9.0', '1.0.0', '1.9.1', '1.10.0', '2.0.0'];
  expect(order.toReversed().toSorted(compareVersions)).toEqual(order);
  expect(compareVersions('1.9.0', '1.9.0')).toBe(0);
});

test('the sections between two versions are those after the one, up to the other', () => {
  const between = (after: string, upTo: string) =>
    changesBetween(CHANGELOG, after, upTo).map(({ version }) => version);
  expect(between('1.9.0', '1.10.0')).toEqual(['1.10.0', '1.9.1']);
  expect(between('1.9.0', '1.9.1')).toEqual(['1.9.1']);
  expect(between('1.10.0', '1.10.0')).toEqual([]);
  expect(between('1.10.0', '1.9.0')).toEqual([]);
  expect(changesBetween(CHANGELOG, '1.9.0', '1.9.1')[0]!.text).toBe(
    '## 1.9.1 (2027-02-01)\n\n### API\n\n- Nine, repaired.',
  );
});

test('what is unreleased belongs to no version', () => {
  expect(changelogSections(CHANGELOG)).toHaveLength(3);
  expect(changelogSections('# Changelog\n')).toEqual([]);
});
