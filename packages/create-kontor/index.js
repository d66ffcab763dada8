#!/usr/bin/env node
/**
 * `npm create kontor my-shop`: makes a folder from which `npm install`, `npm run setup` and `npm start` run a shop. It
 * writes five small files, installs nothing and calls no other machine.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';

const HELP = `Usage: npm create kontor FOLDER [-- --name TEXT] [--country XX] [--language xx] [--yes]

Makes a folder with a shop of your own.

  --name TEXT    Name of the shop (default: that of the folder).
  --country XX   Country, as two letters (default: DE).
  --language xx  Language of its texts (default: the usual one of the country).
  --yes          Ask nothing.
`;

/** A problem that the one who called can solve. */
class UsageProblem extends Error {}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageProblem)) throw error;
  process.stderr.write(`create-kontor: ${error.message}\n`);
  process.exitCode = 2;
}

async function main(words) {
  const { folder, options } = read(words);
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }
  const dialogue = !options.yes && process.stdin.isTTY && process.stderr.isTTY ? openDialogue() : undefined;
  try {
    const ask = (question, given, standard, check) => answer(dialogue, { question, given, standard, check });
    const place = await ask('Folder', folder, 'my-shop', checkedFolder);
    const shopId = path.basename(place);
    const name = await ask('Name of the shop', options.name, shopId, checkedName);
    const country = await ask('Country, as two letters', options.country, 'DE', checkedCountry);
    const language = await ask('Language', options.language, usualLanguage(country), checkedLanguage);
    write(place, { shopId, name, country, language });
    process.stdout.write(nextSteps(path.relative('', place)));
  } finally {
    dialogue?.close();
  }
}

function read(words) {
  try {
    const { positionals, values } = parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        country: { type: 'string' },
        language: { type: 'string' },
        yes: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (positionals.length > 1) throw new UsageProblem(`one folder, please: ${positionals.join(' ')}`);
    return { folder: positionals[0], options: values };
  } catch (error) {
    if (error instanceof UsageProblem) throw error;
    // Its own text goes on about how to write a program.
    throw new UsageProblem(`${error.message.split('. ', 1)[0]}. See: npm create kontor -- --help`);
  }
}

/** Questions go to stderr, so that stdout holds only what is to be done next. Ctrl+C and Ctrl+D end the command. */
function openDialogue() {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  lines.once('close', () => ended.abort());
  return {
    async ask(question) {
      try {
        return (await lines.question(question, { signal: ended.signal })).trim();
      } catch (error) {
        if (!ended.signal.aborted) throw error;
        throw new UsageProblem('nothing was made.');
      }
    },
    close: () => lines.close(),
  };
}

/** What was given, else what is typed, else the default. A wrong answer on the terminal is asked for again. */
async function answer(dialogue, { question, given, standard, check }) {
  if (given !== undefined) return check(given.trim());
  if (!dialogue) return check(standard);
  for (;;) {
    const typed = await dialogue.ask(`${question} [${standard}]: `);
    try {
      return check(typed || standard);
    } catch (error) {
      if (!(error instanceof UsageProblem)) throw error;
      process.stderr.write(`${error.message}\n`);
    }
  }
}

/** Its name becomes the id of the shop, the name of a package and part of a host name. */
function checkedFolder(folder) {
  const place = path.resolve(folder);
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(path.basename(place))) {
    throw new UsageProblem(
      `${JSON.stringify(folder)} cannot be the folder: its name is the id of the shop, 1 to 63 of a-z, 0-9 and -, a letter or digit first.`,
    );
  }
  if (existsSync(place) && readdirSync(place).length > 0) {
    throw new UsageProblem(`${folder} is not empty: choose another folder.`);
  }
  return place;
}

function checkedName(name) {
  if (name.length > 255 || /\p{Cc}/u.test(name)) {
    throw new UsageProblem('the name of a shop is one line of at most 255 characters.');
  }
  return name;
}

function checkedCountry(typed) {
  const code = typed.toUpperCase();
  if (/^[A-Z]{2}$/.test(code) && nameOf('region', code) !== undefined) return code;
  throw new UsageProblem(`${JSON.stringify(typed)} is no country code like DE, GB or US.`);
}

function checkedLanguage(typed) {
  const code = typed.toLowerCase();
  if (/^[a-z]{2}$/.test(code) && nameOf('language', code) !== undefined) return code;
  throw new UsageProblem(`${JSON.stringify(typed)} is no language like de or fr.`);
}

function nameOf(type, code) {
  return new Intl.DisplayNames('en', { type, fallback: 'none' }).of(code);
}

function usualLanguage(country) {
  return new Intl.Locale('und', { region: country }).maximize().language;
}

function write(place, { shopId, name, country, language }) {
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  const manifest = {
    name: shopId,
    private: true,
    scripts: {
      setup: `kontor shop create ${shopId} --country ${country} --language ${language} --settings shop.yaml --yes`,
      apply: `kontor shop apply ${shopId} shop.yaml`,
      start: 'kontor serve',
    },
    dependencies: { kontor: `^${version}` },
  };
  mkdirSync(place, { recursive: true });
  const files = {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    '.gitignore': 'node_modules/\ndata/\n',
    'shop.yaml': settings(name),
    'README.md': readme(shopId, name),
  };
  for (const [file, text] of Object.entries(files))
    writeFileSync(path.join(place, file), text, { flag: 'wx' });
}

/** A text in JSON is one in YAML, whatever is in it. */
function settings(name) {
  return `# yaml-language-server: $schema=./node_modules/kontor/schema/shop-settings.schema.json

# What this shop is. Change it and run: npm run apply
# A section that is not named stays as it is; your editor completes the others with the schema above.
# Two complete files are in node_modules/kontor/examples, all sections in node_modules/kontor/docs/settings-file.md.

name: ${JSON.stringify(name)}
`;
}

/** A name may have any characters, so those that Markdown reads are escaped. */
function readme(shopId, name) {
  return `# ${name.replaceAll(/[\\`*_[\]<>#|!&]/g, String.raw`\$&`)}

- \`npm install\`, then \`npm run setup\` once: creates the shop, and says what it still needs before it opens.
- \`npm start\`: the shop is at http://${shopId}.localhost:8080, the admin at http://localhost:8080/admin.
- \`npx kontor shop open ${shopId}\` when everything is there; \`npx kontor help\` for all the rest.
- All data are in \`data/\`: back it up, and keep it out of git.
`;
}

function nextSteps(place) {
  return `
  ${place} is ready. Next:

    cd ${place}
    npm install
    npm run setup
    npm start

`;
}
