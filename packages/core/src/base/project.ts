/**
 * What a project is called. Its name is not its path: the same repository at two paths is one project, and two projects that are at one
 * path in turn are two. A name is readable, and ends with a hash of what it was made from.
 */
import { hash } from "node:crypto"
import { resolve } from "node:path"
import { projectName } from "./clock.ts"
import { realPath, statIfReachable } from "./files.ts"
import { type GitRepository, remoteAddress, repositoryOf, rootCommit } from "./git.ts"

export interface Project {
  /** By which a store keeps it: letters, digits and `-`, never `_`. */
  readonly name: string
  /** What the name was made from. */
  readonly from: "option" | "environment" | "remote" | "root-commit" | "path"
  /** For a person: `github.com/acme/shop`. It may hold any characters. */
  readonly title: string
  /** The main working directory of the repository, or the directory itself. */
  readonly directory: string
  /** Names that earlier versions gave it. What is kept under them is the project's too. */
  readonly formerNames: readonly string[]
  /** What its first commit would name it: it may have been called so before it had a remote. Runs git. */
  readonly nameWithoutRemote?: () => Promise<string | undefined>
}

export interface ProjectLocation {
  readonly cwd: string
  /** A name for it. Any text. */
  readonly project?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

export const PROJECT_VARIABLE = "STRATA_PROJECT"

/** The name that is given, else the repository's remote, else its first commit, else the path. */
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

/** Whether a directory has the same remote. Git is not run, and no name is given to it: other programs' transcripts ask for hundreds. */
export async function sharesRemote(project: Project, cwd: string, home: string | undefined): Promise<boolean> {
  if (project.from !== "remote") return false
  const start = realPath(cwd)
  const repository = start === undefined ? undefined : await repositoryOf(start, { home })
  return (await remoteName(repository))?.name === project.name
}

/** Programs that keep sessions with us. Who erases or moves a project by its name means theirs too. */
const EXTERNAL_PROGRAMS = ["claude-agent-sdk", "openai-agents", "langgraph"] as const
export type ExternalProgram = (typeof EXTERNAL_PROGRAMS)[number]

/** The name for what another program keeps with us, under a text of its own. No project of ours has it. */
export const externalProjectName = (program: ExternalProgram, text: string): string =>
  makeProjectName({ kind: "foreign", identity: `${program}\0${text}`, readable: `${program} ${text}` })

/** The main working directory of the repository that a directory is in, or the directory itself. */
export async function mainDirectory(cwd: string, home: string | undefined): Promise<string> {
  const start = realPath(cwd) ?? resolve(cwd)
  return (await repositoryOf(start, { home }))?.directory ?? start
}

/** Every name that a project may be kept under, if a person calls it so: its name, its title, its remote or its path; also for sessions of other SDKs. */
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

/** Git does not use another user's repository, so that one does not say whose memory it gets. */
function isOwnedByUser({ directory, common }: GitRepository): boolean {
  const uid = process.getuid?.()
  return uid === undefined || [directory, common!].every((path) => statIfReachable(path)?.uid === uid)
}

const COMMIT_DIGITS = 12 // digits
const MAX_READABLE = 80 // characters; with the hash it is shorter than what `placeFor` keeps of a name
/** Digits of the hash. Given names have more, so that they never equal a remote's, and because anyone may have chosen the text. */
const DIGITS = { given: 16, foreign: 20, remote: 8, "root-commit": 8 }

interface NameSource {
  readonly kind: keyof typeof DIGITS
  /** Compared exactly. */
  readonly identity: string
  readonly readable?: string
}

/** No name of a path is like it: those begin with a dash, or have two in a row. */
function makeProjectName({ kind, identity, readable = identity }: NameSource): string {
  const words = readable
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_READABLE)
    .replace(/^-+|-+$/g, "")
  // every code unit counts: in UTF-8, all broken characters are the same
  const exactly = Buffer.from(`${kind}\0${identity}`, "utf16le")
  return `${words || "project"}-${hash("sha256", exactly, "hex").slice(0, DIGITS[kind])}`
}
