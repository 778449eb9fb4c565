/** `strata sync`: synchronises the machines of one user. Memories and sessions travel through separate branches of a git remote. */

import { realpath } from "node:fs/promises"
import { localUser, StrataError, strataDirectory } from "@strata/core"
import { systemClock } from "@strata/core/base"
import { resolveProject } from "@strata/core/projects"
import { type ProjectInStore, projectMemories, projectNamespace, storeFrom } from "@strata/core/store"
import {
  allProjects,
  type Branch,
  MEMORIES_BRANCH,
  openBranch,
  type ProjectReport,
  type RemoteTrust,
  rememberedTrust,
  rememberTrust,
  resolveRemote,
  SESSIONS_BRANCH,
  type SessionReport,
  type SyncedProject,
  type SyncRemote,
  syncMemories,
  syncSessions,
} from "@strata/sync"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { pluralize } from "../display/numbers.ts"
import { withProgress } from "../display/progress.ts"
import type { Terminal } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"
import { escapeForTerminal, escapeToLine, jsonForTerminal } from "../display/visible.ts"
import { openProjectBank } from "../memory/project-memory.ts"
import { SYNC } from "../store/descriptions.ts"
import { listNames, memoryLines, outgoingNames, outgoingSessions, sessionLines } from "./page.ts"

// Asks who owns the remote: once, at a terminal, together with what would leave this machine. Nothing leaves before the answer.

export interface OutgoingChanges {
  readonly memories: readonly string[]
  readonly sessions: readonly string[]
}

interface TrustQuestionOptions {
  readonly remote: SyncRemote
  readonly leaving: OutgoingChanges
  readonly terminal: Terminal
}

const TEAM =
  "This is a remote of the project itself. Everyone who can read that repository will be able to read your memories, and everyone who can write to it can change what you get from there."
const MINE =
  "mine: only you can read and write it. What comes from there counts as yours, and what you forget or erase on one machine is forgotten or erased on the others."
const SHARED =
  "shared: others can read it too. What comes from there counts as a note of an agent, never as your word, and cannot change your rules."

/** Asks who can access the remote. Resolves with `undefined` if the user declines. */
export async function askRemoteOwner({
  remote,
  leaving,
  terminal,
}: TrustQuestionOptions): Promise<RemoteTrust | undefined> {
  const columns = Math.min(terminal.columns, 110)
  const choices = remote.isProjectRemote ? [TEAM] : [MINE, SHARED]
  const lines = [
    terminal.style.bold(`You have not synced with ${escapeToLine(remote.title)} before.`),
    ...outgoingLines(leaving),
    "",
    ...choices.flatMap((text) => wrapText(text, columns)),
  ]
  terminal.print(`${lines.join("\n")}\n`)
  if (remote.isProjectRemote) {
    const answer = await promptForChoice("\nSync with it all the same? Type shared, or no: ", ["shared", "no"])
    return answer === "shared" ? answer : undefined
  }
  const answer = await promptForChoice("\nWhose is it? Type mine, shared, or no to stop: ", ["mine", "shared", "no"])
  return answer === "no" ? undefined : answer
}

function outgoingLines({ memories, sessions }: OutgoingChanges): readonly string[] {
  const lines = [
    ...(memories.length === 0 ? [] : [`${pluralize(memories.length, "memory", "memories")}: ${listNames(memories)}`]),
    ...(sessions.length === 0
      ? []
      : [`${pluralize(sessions.length, "session")}, with everything said in them: ${listNames(sessions)}`]),
  ]
  return lines.length === 0
    ? ["Nothing would leave this machine now."]
    : ["This would leave this machine:", ...lines.map((line) => `  ${line}`)]
}

export const needsTrust = ({ title, isProjectRemote }: SyncRemote): UsageError =>
  new UsageError(
    `You have not synced with ${escapeToLine(title)} before, and there is no terminal to ask whose it is. Nothing was sent. ${
      isProjectRemote
        ? "It is a remote of the project itself: everyone who can read that repository would read your memories. If you want that, add --shared."
        : "Add --mine if only you can read and write it, or --shared if others can."
    }`,
  )

export const notOwnRemote = ({ title }: SyncRemote): UsageError =>
  new UsageError(
    `${escapeToLine(title)} is a remote of the project itself: everyone who can read that repository would read your memories. Nothing was sent. If you want that, use --shared in place of --mine.`,
  )

/** Error for session sync with a shared remote: a journal contains the user's messages, and text of others must not pass for them. */
export const sessionsAreYours = ({ title }: SyncRemote): UsageError =>
  new UsageError(
    `Sessions are synced only with a remote that is yours alone, and others can reach ${escapeToLine(title)}. Nothing was changed. Leave out --sessions, or name another remote.`,
  )

const [DONE, NOT_DONE] = [0, 1]

export const run: Run = async ({ args, cwd: given, env, terminal }) => {
  const { values, operands } = readArguments(SYNC, args)
  const cwd = await realpath(given)
  const remote = await resolveRemote(operands[0]!, { cwd, env }).catch(asUsage)
  const [root, isDryRun, isAtTerminal] = [strataDirectory(env), values["dry-run"], atTerminal()]
  const known = await knownTrust({ root, remote, values })
  if (values["with-secrets"] && !values.sessions)
    throw new UsageError(
      "--with-secrets is for sessions: use it with --sessions. A memory with a secret is never sent.",
    )
  if (known === undefined && !isDryRun && !isAtTerminal) throw needsTrust(remote)

  const { current, notices, store } = await projectHere({ cwd, env, readOnly: isDryRun })
  for (const notice of notices) terminal.complain(`${escapeForTerminal(notice)}\n`)
  const open = (name: string) =>
    openBranch({ env, isAtTerminal, name, url: remote.url, title: remote.title, now: () => systemClock.now() })
  await using branches = new Branches(open)
  const all = (there: ReadonlySet<string>) =>
    values["all-projects"] ? allProjects({ store, current, there, readOnly: isDryRun }) : [current]
  const syncAs = async (trust: RemoteTrust, dry: boolean): Promise<SyncTarget> => {
    const memories = await withProgress(terminal, "Syncing the memories", async () =>
      syncMemories({
        ...{ branch: await branches.named(MEMORIES_BRANCH), remote, trust, clock: systemClock, isDryRun: dry },
        projects: async (there) => all(there),
      }),
    )
    if (!values.sessions) return { memories, sessions: [] }
    const sessions = await withProgress(terminal, "Syncing the sessions", async () =>
      syncSessions({
        ...{ branch: await branches.named(SESSIONS_BRANCH), store, clock: systemClock, isDryRun: dry },
        withSecrets: values["with-secrets"],
        projects: async (there) => (await all(there)).map(({ key }) => key),
      }),
    )
    return { memories, sessions }
  }
  const usual = remote.isProjectRemote ? "shared" : "mine"
  const trust = known ?? (isDryRun ? usual : await askFirst({ remote, terminal, preview: () => syncAs(usual, true) }))
  if (trust === undefined) {
    terminal.print("Nothing was changed, and nothing was sent.\n")
    return NOT_DONE
  }
  if (trust === "shared" && values.sessions) throw sessionsAreYours(remote)
  if (!isDryRun) await rememberTrust(root, { remote, trust, now: systemClock.now() })
  const outcome = { remote: remote.title, trust, dryRun: isDryRun, ...(await syncAs(trust, isDryRun)) }
  terminal.print(values.json ? `${jsonForTerminal(outcome, 2)}\n` : syncPage(outcome, known === undefined && isDryRun))
  return DONE
}

interface SyncTarget {
  readonly memories: readonly ProjectReport[]
  readonly sessions: readonly SessionReport[]
}

/** Branches that are opened on demand and closed together. */
class Branches {
  readonly #open: (name: string) => Promise<Branch>
  readonly #opened = new Map<string, Promise<Branch>>()

  constructor(open: (name: string) => Promise<Branch>) {
    this.#open = open
  }

  named(name: string): Promise<Branch> {
    const branch = this.#opened.get(name) ?? this.#open(name)
    this.#opened.set(name, branch)
    return branch
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const branch of this.#opened.values()) await branch.then((opened) => opened.close()).catch(() => undefined)
  }
}

interface AskFirst extends Pick<CommandCall, "terminal"> {
  readonly remote: SyncRemote
  readonly preview: () => Promise<SyncTarget>
}

async function askFirst({ remote, terminal, preview }: AskFirst): Promise<RemoteTrust | undefined> {
  const { memories, sessions } = await preview()
  return askRemoteOwner({
    remote,
    terminal,
    leaving: { memories: outgoingNames(memories), sessions: outgoingSessions(sessions) },
  })
}

/** Turns an invalid remote address into a usage error. */
function asUsage(error: unknown): never {
  throw error instanceof StrataError && error.code === "unusable-remote" ? new UsageError(error.message) : error
}

const atTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

interface TrustLookup {
  readonly root: string
  readonly remote: SyncRemote
  readonly values: { readonly mine: boolean; readonly shared: boolean }
}

/** The user's decision, from the options or from before. A remote of the project itself is never private. */
async function knownTrust({ root, remote, values: { mine, shared } }: TrustLookup): Promise<RemoteTrust | undefined> {
  if (mine && shared) throw new UsageError("A remote is yours or shared: use either --mine or --shared.")
  if (mine && remote.isProjectRemote) throw notOwnRemote(remote)
  if (mine || shared) return mine ? "mine" : "shared"
  const before = await rememberedTrust(root, remote)
  return before === "mine" && remote.isProjectRemote ? undefined : before
}

interface Here extends Pick<CommandCall, "cwd" | "env"> {
  readonly readOnly: boolean
}

async function projectHere({ cwd, env, readOnly }: Here) {
  const root = strataDirectory(env)
  const store = storeFrom({ dir: root, env })
  const project = await resolveProject({ root, env, cwd, store })
  const bank = await openProjectBank({ cwd, env, readOnly })
  if (await bank.isCommandRunning())
    throw new UsageError(
      "An agent is running a command in this project, and it must not send your memories away. Nothing was changed. Wait for its end.",
    )
  const given: ProjectInStore = { store, project, owner: localUser }
  const current: SyncedProject = { key: projectNamespace(given), files: projectMemories(given), bank }
  const pathNotice = `Only its path names this project, so another machine finds these memories only at the same path. Set STRATA_PROJECT to name it.`
  return { current, store, notices: [...bank.notices, ...(project.from === "path" ? [pathNotice] : [])] }
}

interface SyncOutcome extends SyncTarget {
  readonly remote: string
  readonly trust: RemoteTrust
  readonly dryRun: boolean
}

/** Renders the report. `isAssumed` means that the user has not been asked yet who owns the remote. */
function syncPage({ remote, trust, dryRun, memories, sessions }: SyncOutcome, isAssumed: boolean): string {
  const answer = trust === "mine" ? "yours" : "shared with others"
  const whose = isAssumed ? `if it is ${answer}; a sync asks` : answer
  const lines = [...memoryLines(memories), ...sessionLines(sessions)]
  const title = dryRun
    ? `With ${escapeToLine(remote)} (${whose}), a sync would do this. Nothing was changed.`
    : `Synced with ${escapeToLine(remote)} (${whose}).`
  return `${[title, ...(lines.length === 0 ? ["Both sides are the same."] : lines)].join("\n")}\n`
}
