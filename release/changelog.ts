/** The changelog in the hands of a release: what is unreleased gets its version and day. */

const UNRELEASED = '## Unreleased\n';

/** A release that cannot be made, with what to do. */
export class ReleaseProblem extends Error {
  override name = 'ReleaseProblem';
}

export function releasedChangelog(text: string, version: string, day: string): string {
  const start = text.indexOf(UNRELEASED);
  if (start === -1) throw new ReleaseProblem('CHANGELOG.md has no section "## Unreleased".');
  const rest = text.slice(start + UNRELEASED.length);
  const end = /^## /m.exec(rest)?.index ?? rest.length;
  if (rest.slice(0, end).trim() === '') {
    throw new ReleaseProblem('CHANGELOG.md says nothing under "## Unreleased": write what has changed.');
  }
  return `${text.slice(0, start)}${UNRELEASED}\n## ${version} (${day})\n${rest}`;
}

/** What a release says about itself: its section of the changelog, without the heading. */
export function releaseNotes(text: string, version: string): string {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${version} `));
  if (section === undefined) throw new ReleaseProblem(`CHANGELOG.md has no section of ${version}.`);
  return `${section.slice(section.indexOf('\n')).trim()}\n`;
}
