// SPDX-License-Identifier: MIT
// Bundles script, style and template to one file: node bundle.mjs SOURCES DIR. Packages are in DIR.
// The policy in the page names script and style by their hashes, so that nothing else runs.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [sources, dir] = process.argv.slice(2).map((path) => resolve(path));
const { build } = createRequire(join(dir, 'package.json'))('esbuild');

const common = {
  bundle: true,
  minify: true,
  keepNames: true, // d3-flame-graph looks for a class by its name
  write: false,
  charset: 'ascii',
  lineLimit: 1000,
  legalComments: 'none', // the notices stand in the page in full
  logLevel: 'warning',
  nodePaths: [join(dir, 'node_modules')],
  target: ['chrome100', 'firefox100', 'safari15'],
};

async function bundle(entry, more) {
  const result = await build({ ...common, ...more, entryPoints: [join(sources, entry)], metafile: true });
  // What ends the element would end it in a string, too.
  const text = result.outputFiles[0].text.replace(/<\/(script|style)/gi, '<\\/$1');
  return { text, inputs: Object.keys(result.metafile.inputs) };
}

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const escape = (text) => text.replace(/[&<]/g, (c) => ({ '&': '&amp;', '<': '&lt;' })[c]);

// Licences of the packages that something was taken from.
function notices(inputs) {
  const packages = new Set(
    inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
  return [...packages].sort().map((name) => {
    const at = join(dir, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
    const files = readdirSync(at).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    if (!files.length) throw new Error(`${name} has no notice of its licence`);
    const text = files.map((file) => readFileSync(join(at, file), 'utf8').trim()).join('\n\n');
    return `${name} ${version} (${license})\n\n${text}\n`;
  }).join(`\n${'-'.repeat(72)}\n`);
}

// d3-flame-graph brings its style along; ours comes after it.
const script = await bundle('main.js', { format: 'iife', loader: { '.css': 'empty' } });
const style = await bundle('page.css', {});
const parts = {
  SCRIPT: script.text,
  STYLE: style.text,
  SCRIPT_HASH: hash(script.text),
  STYLE_HASH: hash(style.text),
  NOTICES: escape(notices([...script.inputs, ...style.inputs])),
};
const page = readFileSync(join(sources, 'template.html'), 'utf8')
  .replace(/@([A-Z_]+)@/g, (all, name) => parts[name] ?? all);
writeFileSync(join(dir, 'page.html.new'), page);
renameSync(join(dir, 'page.html.new'), join(dir, 'page.html'));
