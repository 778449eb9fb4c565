/**
 * Makes a release: `npm run release -- 0.2.0 --date 2026-11-20`. Sets the version of all packages, moves the changelog's "Unreleased" to
 * that version, commits and tags. Everything is checked before the first file changes. `--today` takes the date from the machine's clock.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { ROOT } from "./packages.ts"
import { runToEnd } from "./run-to-end.ts"
import { isVersion, setVersion } from "./set-version.ts"

const USAGE = "npm run release -- 0.2.0 --date 2026-11-20, or --today for the date of this machine."
const UNRELEASED = "## Unreleased\n"

export interface Release {
  readonly version: string
  /** Date such as 2026-11-20. */
  readonly date: string
}

/** Moves all unreleased entries of the changelog to the new version. Throws if there is nothing to release. */
export function releasedChangelog(changelog: string, { version, date }: Release): string {
  const start = changelog.indexOf(UNRELEASED)
  if (start < 0) throw new Error('CHANGELOG.md has no section "Unreleased".')
  if (changelog.includes(`\n## ${version} `)) throw new Error(`CHANGELOG.md has a section for ${version} already.`)
  const body = start + UNRELEASED.length
  const next = changelog.indexOf("\n## ", body)
  if (changelog.slice(body, next < 0 ? undefined : next).trim() === "")
    throw new Error('Nothing is listed as "Unreleased" in CHANGELOG.md.')
  return `${changelog.slice(0, body)}\n## ${version} (${date})\n${changelog.slice(body)}`
}

/** Throws before anything changes if the release cannot be made. */
export function release({ version, date }: Release, root = ROOT): void {
  const git = (...args: readonly string[]) => runToEnd("git", args, { cwd: root })
  const tag = `v${version}`
  const file = join(root, "CHANGELOG.md")
  const changelog = releasedChangelog(readFileSync(file, "utf8"), { version, date })
  if (git("status", "--porcelain") !== "") throw new Error("The working tree has changes. Commit or stash them first.")
  if (git("tag", "--list", tag) !== "") throw new Error(`The tag ${tag} exists already.`)
  setVersion(version, root)
  writeFileSync(file, changelog)
  git("commit", "--all", "--message", `release: ${version}`)
  git("tag", "--annotate", tag, "--message", `Strata ${version}`)
}

/** The release that a command line requests, or `undefined` if it cannot be parsed. */
export function parseRelease(args: readonly string[], today: string): Release | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    options: { date: { type: "string" }, today: { type: "boolean" } },
  })
  const date = values.today === true ? today : values.date
  const [version, ...more] = positionals
  if (version === undefined || !isVersion(version) || more.length > 0) return undefined
  return typeof date === "string" && isDay(date) ? { version, date } : undefined
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text

if (import.meta.main) {
  const wanted = parseRelease(process.argv.slice(2), new Date().toISOString().slice(0, 10))
  if (wanted === undefined) {
    console.error(`Give a version and a date: ${USAGE}`)
    process.exit(2)
  }
  try {
    release(wanted)
    console.log(
      `v${wanted.version} is committed and tagged. Next: git push --follow-tags. The tag publishes all packages.`,
    )
  } catch (error) {
    console.error(`${(error as Error).message}\nNo release was made. If files changed, undo that with git restore .`)
    process.exit(1)
  }
}
