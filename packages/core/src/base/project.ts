/**
 * Names projects. A name does not depend on the path alone: the same repository at two paths is one project, and two projects that use one
 * path in turn are two. A name is readable and ends with a hash of its source.
 */
import { hash } from "node:crypto"
import { resolve } from "node:path"
import { projectName } from "./clock.ts"
import { realPath, statIfReachable } from "./files.ts"
import { type GitRepository, remoteAddress, repositoryOf, rootCommit } from "./git.ts"

export interface Project {
  /** The name in stores: letters, digits and `-`, never `_`. */
  readonly name: string
  /** What the name was derived from. */
  readonly from: "option" | "environment" | "remote" | "root-commit" | "path"
  /** A readable title, such as `github.com/acme/shop`. It may contain any characters. */
  readonly title: string
  /** The main working directory of the repository, or the directory itself. */
  readonly directory: string
  /** Names that earlier versions gave it. Data stored under them belongs to the project too. */
  readonly formerNames: readonly string[]
  /** The name derived from the first commit, which the project may have had before it had a remote. Runs git. */
  readonly nameWithoutRemote?: () => Promise<string | undefined>
}

export interface ProjectLocation {
  readonly cwd: string
  /** An explicit name. Any text. */
  readonly project?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

export const PROJECT_VARIABLE = "STRATA_PROJECT"

/** Uses the explicit name, else the repository's remote, else its first commit, else the path. */
export async function projectAt({ cwd, project, env }: ProjectLocation): Promise<Project> {
  const start = realPath(cwd) ?? resolve(cwd)
  const repository = await repositoryOf(start, { home: env.HOME || undefined })
  const directory = repository?.directory ?? start
  const named =
    explicitName(project, env) ??
    (await remoteName(repository)) ??
    (await commitName(repository, env)) ??
    pathName(directory)
  const earlier = [projectName(directory), projectName(start), projectName(cwd)]
  return {
    ...{ ...named, directory, formerNames: [...new Set(earlier)].filter((name) => name !== named.name) },
    ...(named.from === "remote" ? { nameWithoutRemote: async () => (await commitName(repository, env))?.name } : {}),
  }
}

/**
 * Whether a directory has the same remote as the project. Does not run git and derives no name, because it is called for hundreds of
 * transcripts.
 */
export async function sharesRemote(project: Project, cwd: string, home: string | undefined): Promise<boolean> {
  if (project.from !== "remote") return false
  const start = realPath(cwd)
  const repository = start === undefined ? undefined : await repositoryOf(start, { home })
  return (await remoteName(repository))?.name === project.name
}

/** Programs that store sessions with Strata. Erasing or moving a project by name includes theirs. */
const EXTERNAL_PROGRAMS = ["claude-agent-sdk", "openai-agents", "langgraph"] as const
export type ExternalProgram = (typeof EXTERNAL_PROGRAMS)[number]

/** The project name for another program's data, stored under its own text. No Strata project has such a name. */
export const externalProjectName = (program: ExternalProgram, text: string): string =>
  makeProjectName({ kind: "foreign", identity: `${program}\0${text}`, readable: `${program} ${text}` })

/** The main working directory of the repository that a directory is in, or the directory itself. */
export async function mainDirectory(cwd: string, home: string | undefined): Promise<string> {
  const start = realPath(cwd) ?? resolve(cwd)
  return (await repositoryOf(start, { home }))?.directory ?? start
}

/**
 * Every name a project may be stored under, from what a user calls it: its name, title, remote or path. Includes the names for sessions of
 * other SDKs.
 */
export function possibleProjectNames(text: string): readonly string[] {
  const names = [
    text,
    makeProjectName({ kind: "given", identity: text }),
    makeProjectName({ kind: "remote", identity: text }),
    ...(text.startsWith("/") ? [projectName(text)] : []),
  ]
  return [...names, ...EXTERNAL_PROGRAMS.flatMap((program) => names.map((name) => externalProjectName(program, name)))]
}

type ProjectNaming = Pick<Project, "name" | "from" | "title">

function explicitName(project: string | undefined, env: ProjectLocation["env"]): ProjectNaming | undefined {
  const variable = env[PROJECT_VARIABLE] ?? ""
  const from = project === undefined ? "environment" : "option"
  const title = (project ?? variable).trim()
  return title === "" ? undefined : { from, title, name: makeProjectName({ kind: "given", identity: title }) }
}

async function commitName(
  repository: GitRepository | undefined,
  env: ProjectLocation["env"],
): Promise<ProjectNaming | undefined> {
  const commit = repository && isOwnedByUser(repository) ? await rootCommit(repository, env) : undefined
  if (commit === undefined) return undefined
  const title = `root-${commit.slice(0, COMMIT_DIGITS)}`
  return {
    from: "root-commit",
    title,
    name: makeProjectName({ kind: "root-commit", identity: commit, readable: title }),
  }
}

async function remoteName(repository: GitRepository | undefined): Promise<ProjectNaming | undefined> {
  if (repository?.common === undefined || !isOwnedByUser(repository)) return undefined
  const title = await remoteAddress(repository.common)
  return title === undefined
    ? undefined
    : { from: "remote", title, name: makeProjectName({ kind: "remote", identity: title }) }
}

const pathName = (directory: string): ProjectNaming => ({
  from: "path",
  title: directory,
  name: projectName(directory),
})

/** Whether the user owns the repository. Git does not use another user's repository, and it must not decide whose memory is used. */
function isOwnedByUser({ directory, common }: GitRepository): boolean {
  const uid = process.getuid?.()
  return uid === undefined || [directory, common!].every((path) => statIfReachable(path)?.uid === uid)
}

const COMMIT_DIGITS = 12 // digits
const MAX_READABLE = 80 // characters; with the hash it is shorter than what `namespaceFor` keeps of a name
/** Digits of the hash. Explicit names have more, so that they never equal a remote's, and because anyone may have chosen the text. */
const DIGITS = { given: 16, foreign: 20, remote: 8, "root-commit": 8 }

interface NameSource {
  readonly kind: keyof typeof DIGITS
  /** Compared exactly. */
  readonly identity: string
  readonly readable?: string
}

/** Never equals a name made from a path, which starts with a dash or contains two consecutive ones. */
function makeProjectName({ kind, identity, readable = identity }: NameSource): string {
  const words = readable
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_READABLE)
    .replace(/^-+|-+$/g, "")
  // hashed by code units, because in UTF-8 all lone surrogates would be equal
  const exactly = Buffer.from(`${kind}\0${identity}`, "utf16le")
  return `${words || "project"}-${hash("sha256", exactly, "hex").slice(0, DIGITS[kind])}`
}
