/**
 * Step 5, restore. Restores content to the view after a compaction: files, skills, the plan, plan mode, todos, agents, tools, and
 * instructions of tool servers. Everything is prepared in parallel and always added in this order. Never throws because of a file.
 * `install.ts` turns the result into entries.
 */

import { realpath } from "node:fs/promises"
import { resolve } from "node:path"
import type { AddedTool, Attachment, AttachmentKind } from "../../../messages/attachments.ts"
import { findToolReferences } from "../../../messages/blocks.ts"
import { contentOf, type Message, type Uuid } from "../../../messages/messages.ts"
import type { Flags } from "../../../settings/flags.ts"
import type { FileRead } from "../../../tools/tool.ts"
import type { Agents, WorkState } from "../../../views/record/open-work.ts"
import { cutText, type Estimate } from "../cut.ts"
import {
  callsShownInFull,
  candidates,
  type ExcludedPaths,
  type FileCandidate,
  pageOf,
  type ReadFileAgain,
  type RestoredFile,
  readAgain,
  sizeOf,
} from "./files.ts"

// Step 5, restore. Attachments from before the boundary that must still apply after it: skills in use, agents, loaded tools, and
// instructions of tool servers. Pure. Attachments in preserved messages are not repeated. The skill listing is not sent again.

export interface EarlierAttachments {
  /** Messages since the last boundary, in order. */
  readonly messages: readonly Message[]
  /** Uuids of the messages that stay in view. */
  readonly preserved: ReadonlySet<Uuid>
}

interface SkillLimits {
  readonly estimate: Estimate
  /** Maximum tokens of one skill, and of all skills together. */
  readonly each: number
  readonly together: number
}

type AttachmentOf<Kind extends AttachmentKind> = Extract<Attachment, { type: Kind }>

interface PlacedAttachment<Kind extends AttachmentKind> {
  readonly attachment: AttachmentOf<Kind>
  /** Whether the attachment is in a message that stays in view. */
  readonly isPreserved: boolean
}

/** Skills, newest first, each as it was last used, until the limit is reached. */
export function skillsInUse(
  before: EarlierAttachments,
  { estimate, each, together }: SkillLimits,
): readonly Attachment[] {
  const newestFirst = attachmentsOf("skill_content", before).toReversed()
  const byName = new Map<string, PlacedAttachment<"skill_content">>()
  for (const placed of newestFirst) {
    if (!byName.has(placed.attachment.name)) byName.set(placed.attachment.name, placed)
  }
  let room = together
  return [...byName.values()].flatMap(({ attachment, isPreserved }) => {
    const shown = isPreserved ? undefined : withinLimit(attachment, { estimate, limit: Math.min(each, room) })
    if (shown === undefined) return []
    room -= sizeOf(shown, estimate)
    return [shown]
  })
}

/** Returns `undefined` if not even the beginning fits. */
function withinLimit(
  { name, content }: AttachmentOf<"skill_content">,
  { estimate, limit }: { readonly estimate: Estimate; readonly limit: number },
): Attachment | undefined {
  const attachment = (text: string): Attachment => ({ type: "skill_content", name, content: text })
  if (sizeOf(attachment(content), estimate) <= limit) return attachment(content)
  const marker = `\n[Cut here: the instructions go on. Use the skill ${JSON.stringify(name)} again to see all of them.]`
  const room = limit - sizeOf(attachment(marker), estimate)
  const beginning = room > 0 ? cutText({ text: content, limit: room, estimate }) : ""
  return beginning.trim() === "" ? undefined : attachment(`${beginning}${marker}`)
}

/**
 * The agents that the journal knows, because no attachment says that one is running. If it knows none, as in a transcript of another
 * program, the newest attachment about them. An agent that a call waited for is already in the call's result.
 */
export function agentStatus(before: EarlierAttachments, agents?: Pick<Agents, "roster">): readonly Attachment[] {
  const started = [...(agents?.roster.values() ?? [])].filter(({ isOnPath }) => isOnPath)
  if (started.length === 0) return unlessPreserved(attachmentsOf("agent_status", before).at(-1))
  const shown = started.filter(({ kind }) => kind !== "wait")
  const statuses = shown.map(({ id, name, status, description }) => ({ id, name, status, summary: description }))
  return statuses.length === 0 ? [] : [{ type: "agent_status", agents: statuses }]
}

export function agentListing(before: EarlierAttachments): readonly Attachment[] {
  return unlessPreserved(attachmentsOf("agent_listing", before).at(-1))
}

/**
 * Tools that were added or loaded and still exist, and removed tools that a preserved message says were added. A loaded tool is declared
 * from the boundary on, so its name is enough.
 */
export function toolSet(before: EarlierAttachments): readonly Attachment[] {
  const there = new Map<string, { readonly tool: AddedTool; readonly isPreserved: boolean }>()
  const removedNames = new Set<string>()
  for (const { change, isPreserved } of toolChanges(before)) {
    for (const name of change.removed) {
      if (there.get(name)?.isPreserved && !isPreserved) removedNames.add(name)
      there.delete(name)
    }
    for (const tool of change.added) {
      there.set(tool.name, { tool, isPreserved })
      removedNames.delete(tool.name)
    }
  }
  const added = [...there.values()].filter(({ isPreserved }) => !isPreserved).map(({ tool }) => tool)
  const removed = [...removedNames]
  return added.length + removed.length === 0 ? [] : [{ type: "tool_delta", added, removed }]
}

interface PlacedToolChange {
  readonly change: Pick<AttachmentOf<"tool_delta">, "added" | "removed">
  readonly isPreserved: boolean
}

/** Changes of the tool set in message order, from attachments and from references in results. */
function toolChanges({ messages, preserved }: EarlierAttachments): readonly PlacedToolChange[] {
  return messages.flatMap((message): PlacedToolChange[] => {
    if (message.isSidechain) return []
    const isPreserved = preserved.has(message.uuid)
    if (message.type === "attachment")
      return message.attachment.type === "tool_delta" ? [{ change: message.attachment, isPreserved }] : []
    if (message.type !== "user") return []
    const added = contentOf(message)
      .flatMap(findToolReferences)
      .map((name): AddedTool => ({ name, loaded: true }))
    return added.length > 0 ? [{ change: { added, removed: [] }, isPreserved }] : []
  })
}

/** The newest instructions of each server, in the order in which the servers appeared. */
export function serverInstructions(before: EarlierAttachments): readonly Attachment[] {
  const newest = new Map(attachmentsOf("mcp_instructions", before).map((placed) => [placed.attachment.server, placed]))
  return [...newest.values()].flatMap(unlessPreserved)
}

function attachmentsOf<Kind extends AttachmentKind>(
  kind: Kind,
  { messages, preserved }: EarlierAttachments,
): readonly PlacedAttachment<Kind>[] {
  return messages.flatMap((message) => {
    if (message.type !== "attachment" || message.isSidechain || message.attachment.type !== kind) return []
    const { belongsTo: _, ...attachment } = message.attachment // the message that it belonged to is no longer in view
    return [{ attachment: attachment as AttachmentOf<Kind>, isPreserved: preserved.has(message.uuid) }]
  })
}

function unlessPreserved(
  placed: { readonly attachment: Attachment; readonly isPreserved: boolean } | undefined,
): readonly Attachment[] {
  return placed === undefined || placed.isPreserved ? [] : [placed.attachment]
}

export interface RestoreInput {
  /** Messages since the last boundary, as the model sees them. */
  readonly messages: readonly Message[]
  /** The messages that stay in view, as the model sees them. */
  readonly preserved: readonly Message[]
  /** Whether a tool result is neither offloaded nor cleared. */
  readonly isComplete: (toolUseId: string) => boolean
  readonly frontier: Pick<WorkState, "todos" | "plan">
  readonly agents?: Pick<Agents, "roster">
  /** Reads and writes, oldest first, as returned by `ReadState.entries()`. */
  readonly reads: Iterable<readonly [string, FileRead]>
  /** Paths that are not shown again: known memory and instruction files, and Strata's own directory. The plan is excluded anyway. */
  readonly excluded: ExcludedPaths
  readonly limits: RestoreLimits
  readonly estimate: Estimate
  readonly now: Date
  readonly signal?: AbortSignal
  /** Reads a file again. Default: from disk. */
  readonly readFile?: ReadFileAgain
}

export interface RestoreLimits {
  /** Maximum number of files. */
  readonly files: number
  /** Maximum tokens of one file, of all files, of one skill and of all skills. */
  readonly file: number
  readonly allFiles: number
  readonly skill: number
  readonly allSkills: number
  /** Maximum tokens of all files and skills, if there is less room than both may take. The files get what the skills leave. */
  readonly together?: number
}

export interface RestoredContext {
  readonly attachments: readonly Attachment[]
  /** Reads that the tools should remember, oldest first: reads that are still in view, and the restored files. */
  readonly reads: readonly (readonly [string, FileRead])[]
  /** Telemetry values: number of restored files, and of files that could not be read any more. */
  readonly files: { readonly restored: number; readonly failed: number }
}

export function restoreLimits({ figures }: Pick<Flags, "figures">): RestoreLimits {
  return {
    files: figures["restore-files"],
    file: figures["restore-file-limit"],
    allFiles: figures["restore-limit"],
    skill: figures["restore-skill-limit"],
    allSkills: figures["restore-skills-limit"],
  }
}

export async function restoreAttachments(input: RestoreInput): Promise<RestoredContext> {
  const { messages, preserved, frontier, limits, estimate } = input
  const reads = [...input.reads]
  const inView = callsShownInFull(preserved, input.isComplete)
  const before: EarlierAttachments = { messages, preserved: new Set(preserved.map(({ uuid }) => uuid)) }
  const sizeOfAll = (all: readonly Attachment[]) => all.reduce((sum, each) => sum + sizeOf(each, estimate), 0)
  const skills = skillsInUse(before, { estimate, each: limits.skill, together: limits.allSkills })
  const { together = Number.POSITIVE_INFINITY } = limits
  const allFiles = Math.max(0, Math.min(limits.allFiles, together - sizeOfAll(skills)))
  const plan = restorePlan(frontier.plan, { ...input, limits: { ...limits, allFiles }, reads })
  const files = plan.then((shown) =>
    restoreFiles({
      ...input,
      limits: { ...limits, allFiles: Math.max(0, allFiles - sizeOfAll(shown)) },
      reads,
      inView,
    }),
  )

  const attachments = await Promise.all([
    files.then(({ restored }) => restored.map(({ attachment }) => attachment)),
    skills,
    plan,
    planMode(frontier.plan),
    frontier.todos.length === 0 ? [] : [{ type: "todo_list", todos: frontier.todos } as const],
    agentStatus(before, input.agents),
    toolSet(before),
    agentListing(before),
    serverInstructions(before),
  ])
  const { restored, failed } = await files
  return {
    attachments: attachments.flat(),
    reads: readsAfter(reads, { inView, restored }),
    files: { restored: restored.length, failed },
  }
}

interface FilesInput extends RestoreInput {
  readonly reads: readonly (readonly [string, FileRead])[]
  readonly inView: ReadonlySet<string>
}

/** Restores the most recently read files. A file that cannot be read any more is replaced by the next one. */
async function restoreFiles(input: FilesInput) {
  const { reads, inView, limits, frontier } = input
  const excluded = await resolveLinks({
    files: [...input.excluded.files, ...(frontier.plan.path === undefined ? [] : [frontier.plan.path])],
    directories: input.excluded.directories,
  })
  const waiting = [...candidates({ reads, wholeCalls: inView, excluded })]
  const expected = Math.min(limits.files, waiting.length)
  const restored: RestoredFile[] = []
  let failed = 0
  let room = limits.allFiles
  while (restored.length < limits.files && waiting.length > 0) {
    const next = await Promise.all(
      waiting.splice(0, limits.files - restored.length).map((candidate) => read(candidate, input)),
    )
    for (const { candidate, file } of next) {
      if (file === undefined) failed++
      if (file === undefined) continue
      const { estimate, now } = input
      const share = room / (expected - restored.length) // so that the first does not take what the others need
      const page = pageOf({ candidate, file, limit: Math.min(limits.file, share), estimate, now })
      if (page.tokens > room) continue
      room -= page.tokens
      restored.push(page)
    }
  }
  return { restored, failed }
}

async function read(candidate: FileCandidate, { readFile = readAgain, signal = NEVER }: RestoreInput) {
  return { candidate, file: await readFile(candidate.path, signal) }
}

const NEVER = new AbortController().signal

/** Resolves links. Reads are stored under paths without links, so excluded paths are compared without links too. */
async function resolveLinks({ files, directories }: ExcludedPaths): Promise<ExcludedPaths> {
  const real = (path: string) => realpath(path).catch(() => resolve(path))
  const [realFiles, realDirectories] = await Promise.all([
    Promise.all(files.map(real)),
    Promise.all(directories.map(real)),
  ])
  return { files: realFiles, directories: realDirectories }
}

/**
 * Restores the plan. If the conversation has read or written the plan's file, the file takes precedence: it may have been edited since the
 * plan was shown. The plan comes before all other files and may take their complete room, or that of two files if the room is small. A
 * longer plan is cut.
 */
async function restorePlan(
  { path, text }: WorkState["plan"],
  { reads, readFile = readAgain, signal = NEVER, limits, estimate }: FilesLookup,
): Promise<readonly Attachment[]> {
  if (path === undefined) return []
  const isKnown = reads.some(([known]) => known === path)
  const content = (isKnown ? (await readFile(path, signal))?.text : undefined) ?? text
  if (content === undefined) return []
  const attachment = (shown: string): Attachment => ({ type: "plan_file", path, content: shown })
  const limit = Math.max(limits.allFiles, 2 * limits.file)
  if (sizeOf(attachment(content), estimate) <= limit) return [attachment(content)]
  const room = limit - sizeOf(attachment(PLAN_CUT), estimate)
  return [attachment(`${cutText({ text: content, limit: Math.max(0, room), estimate })}${PLAN_CUT}`)]
}

const PLAN_CUT = "\n[Cut here: the plan goes on. Read its file to see all of it.]"

type FilesLookup = Pick<FilesInput, "reads" | "readFile" | "signal" | "limits" | "estimate">

function planMode({ active, path }: WorkState["plan"]): readonly Attachment[] {
  return active ? [{ type: "plan_mode", active, ...(path === undefined ? {} : { path }) }] : []
}

interface ReadsAfterInput {
  readonly inView: ReadonlySet<string>
  readonly restored: readonly RestoredFile[]
}

function readsAfter(
  reads: readonly (readonly [string, FileRead])[],
  { inView, restored }: ReadsAfterInput,
): RestoredContext["reads"] {
  const again = new Map(restored.flatMap(({ read }) => (read ? [read] : [])))
  return reads.flatMap(([path, before]) => {
    const shown =
      again.get(path) ?? (before.toolUseId !== undefined && inView.has(before.toolUseId) ? before : undefined)
    return shown ? [[path, shown] as const] : []
  })
}
