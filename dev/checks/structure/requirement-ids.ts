/** Checks requirement ids: docs/development/requirements.md explains every id that a file names, and comments in sources name none. */
import { sourceParts } from "../source-parts.ts"

const ID = /\b[A-Z][A-Z0-9]{1,4}-\d{1,2}\b/g

/** The ids in the tables of docs/development/requirements.md. */
export const listedIds = (page: string): ReadonlySet<string> =>
  new Set([...page.matchAll(/^\| ([A-Z][A-Z0-9]+-\d+) \|/gm)].map(([, id]) => id!))

/** Ids in a text that have the prefix of a requirement but are not listed. `UTF-8` has no such prefix. */
export function unlistedIds(text: string, listed: ReadonlySet<string>): readonly string[] {
  const prefixes = new Set([...listed].map((id) => id.split("-")[0]))
  return [...new Set(text.match(ID) ?? [])].filter((id) => prefixes.has(id.split("-")[0]!) && !listed.has(id))
}

/** Ids in the comments of a source. Published declarations contain the comments, and their readers cannot look up ids. */
export const idsInComments = (source: string, listed: ReadonlySet<string>): readonly string[] =>
  sourceParts(source)
    .filter(({ kind }) => kind === "comment")
    .flatMap(({ text }) => text.match(ID) ?? [])
    .filter((id) => listed.has(id))
