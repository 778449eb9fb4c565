/** `strata sync`: one person, several machines. Memories travel through a branch of a git remote. */
import { realpath } from "node:fs/promises"
import { localPerson, strataDirectory } from "@strata/core"
import { systemClock } from "@strata/core/internal/base/clock"
import { memoriesOf, type ProjectInStore, placeOf } from "@strata/core/internal/journal/project-places"
import { storeFrom } from "@strata/core/internal/journal/store-from"
import { whichProject } from "@strata/core/internal/journal/which-project"
import type { RemoteTrust } from "@strata/core/internal/memory/sync/decide"
import { readArguments } from "../arguments.ts"
import { type Call, type Run, UsageError } from "../command.ts"
import { SYNC } from "../descriptions.ts"
import { during } from "../display/progress.ts"
import { printable, visible, visibleJson } from "../display/visible.ts"
import { openProjectBank } from "../memory/place.ts"
import { openBranch } from "./git-branch.ts"
import { MEMORIES_BRANCH, type MemorySync, type ProjectReport, type SyncedProject, syncMemories } from "./memories.ts"
import { leaving, memoryLines } from "./page.ts"
import { allProjects } from "./projects.ts"
import { askWhose, mustBeAsked, notMine } from "./question.ts"
import { rememberedTrust, rememberTrust } from "./remembered-remotes.ts"
import { remoteNamed, type SyncRemote } from "./remote.ts"

const [DONE, NOT_DONE] = [0, 1]

export const run: Run = async ({ args, cwd: given, env, terminal }) => {
  const { values, operands } = readArguments(SYNC, args)
  const cwd = await realpath(given)
  const remote = await remoteNamed(operands[0]!, { cwd, env })
  const [root, isDryRun, isAtTerminal] = [strataDirectory(env), values["dry-run"], atTerminal()]
  const known = await knownTrust({ root, remote, values })
  if (known === undefined && !isDryRun && !isAtTerminal) throw mustBeAsked(remote)

  const { current, notices, store } = await projectHere({ cwd, env, readOnly: isDryRun })
  for (const notice of notices) terminal.complain(`${visible(notice)}\n`)
  const branch = await openBranch({
    ...{ env, isAtTerminal, url: remote.url, title: remote.title, name: MEMORIES_BRANCH },
    now: () => systemClock.now(),
  })
  try {
    const projects: MemorySync["projects"] = async (there) =>
      values["all-projects"] ? allProjects({ store, root, current, there, readOnly: isDryRun }) : [current]
    const syncAs = (trust: RemoteTrust, dry: boolean) =>
      during(terminal, "Syncing the memories", () =>
        syncMemories({ branch, projects, remote, trust, clock: systemClock, isDryRun: dry }),
      )
    const usual = remote.isProjects ? "shared" : "mine"
    let trust = known ?? (isDryRun ? usual : undefined)
    if (trust === undefined) {
      const memories = leaving(await syncAs(usual, true))
      trust = await askWhose({ remote, terminal, leaving: { memories, sessions: [] } })
      if (trust === undefined) {
        terminal.print("Nothing was changed, and nothing was sent.\n")
        return NOT_DONE
      }
    }
    if (!isDryRun) await rememberTrust(root, { remote, trust, now: systemClock.now() })
    const reports = await syncAs(trust, isDryRun)
    const outcome = { remote: remote.title, trust, dryRun: isDryRun, projects: reports }
    terminal.print(values.json ? `${visibleJson(outcome, 2)}\n` : pageOf(outcome))
    return DONE
  } finally {
    await branch.close()
  }
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

interface Outcome {
  readonly remote: string
  readonly trust: RemoteTrust
  readonly dryRun: boolean
  readonly projects: readonly ProjectReport[]
}

function pageOf({ remote, trust, dryRun, projects }: Outcome): string {
  const whose = trust === "mine" ? "yours" : "shared with others"
  const lines = memoryLines(projects)
  const title = dryRun
    ? `With ${printable(remote)} (${whose}), a sync would do this. Nothing was changed.`
    : `Synced with ${printable(remote)} (${whose}).`
  return `${[title, ...(lines.length === 0 ? ["The memories are the same on both sides."] : lines)].join("\n")}\n`
}
