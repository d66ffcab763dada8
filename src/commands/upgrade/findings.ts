import {
  backupFinding,
  isMissing,
  missingFinding,
  programFinding,
  type BackupCount,
  type Finding,
} from '../doctor/findings.ts';
import { compareVersions } from './changelog.ts';

/** What an upgrade to this version would meet. */
export interface UpgradeFacts {
  version: string;
  node: string;
  /** The version that has served last; undefined: none has noted itself in the data folder. */
  lastVersion: string | undefined;
  database: MigrationFacts | 'not made yet' | { problem: string };
  /** The newest published version; undefined: nobody asked for it. */
  newest: { version: string } | { problem: string } | undefined;
}

export interface MigrationFacts extends BackupCount {
  /** Names of migrations that the next start applies. */
  pending: string[];
  /** Names of those that only a newer version knows. */
  unknown: string[];
}

export function upgradeFindings(facts: UpgradeFacts): Finding[] {
  return [
    programFinding(facts),
    ...newestFindings(facts),
    lastVersionFinding(facts),
    ...databaseFindings(facts.database),
  ];
}

function newestFindings({ version, newest }: UpgradeFacts): Finding[] {
  if (newest === undefined) return [];
  if ('problem' in newest) {
    return [
      {
        subject: 'Published',
        severity: 'note',
        found: `the registry does not answer: ${newest.problem}`,
        advice: 'Without --online nothing is asked.',
      },
    ];
  }
  if (compareVersions(newest.version, version) <= 0) {
    return [{ subject: 'Published', severity: 'ok', found: `${newest.version} is the newest` }];
  }
  return [
    {
      subject: 'Published',
      severity: 'note',
      found: `${newest.version} is newer than this program`,
      advice: `npx kontor@${newest.version} upgrade --check looks at an upgrade to it, and changes nothing.`,
    },
  ];
}

function lastVersionFinding({ version, lastVersion }: UpgradeFacts): Finding {
  const subject = 'Upgrade';
  if (lastVersion === undefined) {
    return {
      subject,
      severity: 'note',
      found: 'no version has noted in KONTOR_DATA that it has served',
      advice: 'Read CHANGELOG.md from your version on.',
    };
  }
  const order = compareVersions(lastVersion, version);
  if (order === 0) return { subject, severity: 'ok', found: `none: ${version} has served last` };
  if (order < 0) return { subject, severity: 'ok', found: `from ${lastVersion} to ${version}` };
  return {
    subject,
    severity: 'problem',
    found: `${lastVersion} has served last, which is newer than ${version}`,
    advice: `Install ${lastVersion} or a later one, or restore the backup from before it.`,
  };
}

function databaseFindings(database: UpgradeFacts['database']): Finding[] {
  if (isMissing(database)) return [missingFinding(database)];
  return [schemaFinding(database), wayBackFinding(database), backupFinding(database)];
}

function schemaFinding({ pending, unknown }: MigrationFacts): Finding {
  const subject = 'Schema';
  if (unknown.length > 0) {
    return {
      subject,
      severity: 'problem',
      found: `${migrations(unknown)} of a newer version: ${listed(unknown)}`,
      advice: 'Install that version again: this one does not know what they changed.',
    };
  }
  if (pending.length === 0) return { subject, severity: 'ok', found: 'up to date' };
  return {
    subject,
    severity: 'note',
    found: `${migrations(pending)} to apply: ${listed(pending)}`,
    advice: 'The next start applies them; npx kontor db migrate does it now.',
  };
}

/** The service itself refuses no downgrade, because two neighbouring versions may run side by side. */
function wayBackFinding({ pending, unknown }: MigrationFacts): Finding {
  const subject = 'Way back';
  if (unknown.length > 0) {
    return {
      subject,
      severity: 'problem',
      found: 'a downgrade: migrations are not taken back',
      advice:
        'kontor shop restore refuses backups of the newer version; those from before it can be restored.',
    };
  }
  if (pending.length === 0) {
    return {
      subject,
      severity: 'ok',
      found: 'the version before has the same schema, or this one has served',
    };
  }
  return {
    subject,
    severity: 'note',
    found: 'only a backup: migrations are not taken back',
    advice:
      'The version before can still serve unless the changelog says otherwise, but it refuses backups made afterwards.',
  };
}

const migrations = (names: readonly string[]) =>
  `${names.length} ${names.length === 1 ? 'migration' : 'migrations'}`;

const MAX_LISTED = 5;

function listed(names: readonly string[]): string {
  const rest = names.length - MAX_LISTED;
  return `${names.slice(0, MAX_LISTED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
