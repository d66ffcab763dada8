export interface ChangelogSection {
  /** `1.1.0` */
  version: string;
  /** With its heading. */
  text: string;
}

/** The sections of released versions, newest first. */
export function changelogSections(changelog: string): ChangelogSection[] {
  return changelog
    .split(/^(?=## )/m)
    .map((text) => ({ version: /^## (\d+\.\d+\.\d+) /.exec(text)?.[1], text: text.trimEnd() }))
    .filter((section): section is ChangelogSection => section.version !== undefined);
}

/** What came after one version, up to another one. */
export function changesBetween(changelog: string, after: string, upTo: string): ChangelogSection[] {
  return changelogSections(changelog).filter(
    ({ version }) => compareVersions(version, after) > 0 && compareVersions(version, upTo) <= 0,
  );
}

/** Negative: the first is older. */
export function compareVersions(one: string, other: string): number {
  const [ours, theirs] = [one, other].map((version) => version.split('.').map(Number)) as [
    number[],
    number[],
  ];
  const index = ours.findIndex((number, place) => number !== theirs[place]);
  return index === -1 ? 0 : ours[index]! - theirs[index]!;
}
