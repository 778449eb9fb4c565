/** `strata sync`: one person, several machines. Memories travel through a branch of a git remote, and sessions through another. */
import { realpath } from "node:fs/promises"
import { localPerson, StrataError, strataDirectory } from "@strata/core"
import { systemClock } from "@strata/core/base"
import { whichProject } from "@strata/core/projects"
import { memoriesOf, type ProjectInStore, placeOf, storeFrom } from "@strata/core/store"
import type { RemoteTrust } from "@strata/sync"
import {
  allProjects,
  type Branch,
  MEMORIES_BRANCH,
  openBranch,
  type ProjectReport,
  rememberedTrust,
  rememberTrust,
  remoteNamed,
  SESSIONS_BRANCH,
  type SessionReport,
  type SyncedProject,
  type SyncRemote,
  syncMemories,
  syncSessions,
} from "@strata/sync"
import { readArguments } from "../arguments.ts"
import { type Call, type Run, UsageError } from "../command.ts"
import { during } from "../display/progress.ts"
import { printable, visible, visibleJson } from "../display/visible.ts"
import { openProjectBank } from "../memory/place.ts"
import { SYNC } from "../store/descriptions.ts"
import { leaving, leavingSessions, memoryLines, sessionLines } from "./page.ts"
import { askWhose, mustBeAsked, notMine, sessionsAreYours } from "./question.ts"

const [DONE, NOT_DONE] = [0, 1]

export const run: Run = async ({ args, cwd: given, env, terminal }) => {
  const { values, operands } = readArguments(SYNC, args)
  const cwd = await realpath(given)
  const remote = await remoteNamed(operands[0]!, { cwd, env }).catch(asUsage)
  const [root, isDryRun, isAtTerminal] = [strataDirectory(env), values["dry-run"], atTerminal()]
  const known = await knownTrust({ root, remote, values })
  if (values["with-secrets"] && !values.sessions)
    throw new UsageError(
      "--with-secrets is for sessions: use it with --sessions. A memory with a secret is never sent.",
    )
  if (known === undefined && !isDryRun && !isAtTerminal) throw mustBeAsked(remote)

  const { current, notices, store } = await projectHere({ cwd, env, readOnly: isDryRun })
  for (const notice of notices) terminal.complain(`${visible(notice)}\n`)
  const open = (name: string) =>
    openBranch({ env, isAtTerminal, name, url: remote.url, title: remote.title, now: () => systemClock.now() })
  await using branches = new Branches(open)
  const all = (there: ReadonlySet<string>) =>
    values["all-projects"] ? allProjects({ store, current, there, readOnly: isDryRun }) : [current]
  const syncAs = async (trust: RemoteTrust, dry: boolean): Promise<Synced> => {
    const memories = await during(terminal, "Syncing the memories", async () =>
      syncMemories({
        ...{ branch: await branches.named(MEMORIES_BRANCH), remote, trust, clock: systemClock, isDryRun: dry },
        projects: async (there) => all(there),
      }),
    )
    if (!values.sessions) return { memories, sessions: [] }
    const sessions = await during(terminal, "Syncing the sessions", async () =>
      syncSessions({
        ...{ branch: await branches.named(SESSIONS_BRANCH), store, clock: systemClock, isDryRun: dry },
        withSecrets: values["with-secrets"],
        places: async (there) => (await all(there)).map(({ place }) => place),
      }),
    )
    return { memories, sessions }
  }
  const usual = remote.isProjects ? "shared" : "mine"
  const trust = known ?? (isDryRun ? usual : await askFirst({ remote, terminal, preview: () => syncAs(usual, true) }))
  if (trust === undefined) {
    terminal.print("Nothing was changed, and nothing was sent.\n")
    return NOT_DONE
  }
  if (trust === "shared" && values.sessions) throw sessionsAreYours(remote)
  if (!isDryRun) await rememberTrust(root, { remote, trust, now: systemClock.now() })
  const outcome = { remote: remote.title, trust, dryRun: isDryRun, ...(await syncAs(trust, isDryRun)) }
  terminal.print(values.json ? `${visibleJson(outcome, 2)}\n` : pageOf(outcome, known === undefined && isDryRun))
  return DONE
}

interface Synced {
  readonly memories: readonly ProjectReport[]
  readonly sessions: readonly SessionReport[]
}

/** Opened when they are needed, and closed together. */
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

interface AskFirst extends Pick<Call, "terminal"> {
  readonly remote: SyncRemote
  readonly preview: () => Promise<Synced>
}

async function askFirst({ remote, terminal, preview }: AskFirst): Promise<RemoteTrust | undefined> {
  const { memories, sessions } = await preview()
  return askWhose({ remote, terminal, leaving: { memories: leaving(memories), sessions: leavingSessions(sessions) } })
}

/** An address that cannot be a remote is a mistake in the command line. */
function asUsage(error: unknown): never {
  throw error instanceof StrataError && error.code === "unusable-remote" ? new UsageError(error.message) : error
}

const atTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

interface Trusting {
  readonly root: string
  readonly remote: SyncRemote
  readonly values: { readonly mine: boolean; readonly shared: boolean }
}

/** What the person says now, or said before. A remote of the project is never theirs alone. */
async function knownTrust({ root, remote, values: { mine, shared } }: Trusting): Promise<RemoteTrust | undefined> {
  if (mine && shared) throw new UsageError("A remote is yours or shared: use either --mine or --shared.")
  if (mine && remote.isProjects) throw notMine(remote)
  if (mine || shared) return mine ? "mine" : "shared"
  const before = await rememberedTrust(root, remote)
  return before === "mine" && remote.isProjects ? undefined : before
}

interface Here extends Pick<Call, "cwd" | "env"> {
  readonly readOnly: boolean
}

async function projectHere({ cwd, env, readOnly }: Here) {
  const root = strataDirectory(env)
  const store = storeFrom({ dir: root, env })
  const project = await whichProject({ root, env, cwd, store })
  const bank = await openProjectBank({ cwd, env, readOnly })
  if (await bank.isCommandRunning())
    throw new UsageError(
      "An agent is running a command in this project, and it must not send your memories away. Nothing was changed. Wait for its end.",
    )
  const given: ProjectInStore = { store, project, owner: localPerson }
  const current: SyncedProject = { place: placeOf(given), files: memoriesOf(given), bank }
  const pathNotice = `Only its path names this project, so another machine finds these memories only at the same path. Set STRATA_PROJECT to name it.`
  return { current, store, notices: [...bank.notices, ...(project.from === "path" ? [pathNotice] : [])] }
}

interface Outcome extends Synced {
  readonly remote: string
  readonly trust: RemoteTrust
  readonly dryRun: boolean
}

/** `isAssumed`: no one was asked yet whose the remote is. */
function pageOf({ remote, trust, dryRun, memories, sessions }: Outcome, isAssumed: boolean): string {
  const answer = trust === "mine" ? "yours" : "shared with others"
  const whose = isAssumed ? `if it is ${answer}; a sync asks` : answer
  const lines = [...memoryLines(memories), ...sessionLines(sessions)]
  const title = dryRun
    ? `With ${printable(remote)} (${whose}), a sync would do this. Nothing was changed.`
    : `Synced with ${printable(remote)} (${whose}).`
  return `${[title, ...(lines.length === 0 ? ["Both sides are the same."] : lines)].join("\n")}\n`
}
