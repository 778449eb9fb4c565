/** The agent's access to the project's memory: its own writes, explicit requests of the user, and approval of writes. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { MemoryMode } from "../base/enums.ts"
import { localUser } from "../base/owner.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import type { ConversationRef } from "../conversation/open.ts"
import type { ProjectMemory } from "../conversation/project-memory.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import { projectMemories } from "../journal/project-namespaces.ts"
import type { AutoMemory } from "../layers/5-auto-memory/auto-memory.ts"
import { notRemembered, rememberedDraft } from "../layers/5-auto-memory/auto-memory.ts"
import type { ConfirmMemory } from "../layers/5-auto-memory/save/save.ts"
import { outsideIn, type SourceEvidence, sourceOf } from "../layers/5-auto-memory/save/save.ts"
import type { DreamResult } from "../layers/6-dreaming/dreaming.ts"
import type { DreamingLayer } from "../layers/6-dreaming/dreaming-layer.ts"
import { announceWrite, watchWrites } from "../memory/changes/manual-edits.ts"
import { MAX_MEMORY_BYTES } from "../memory/file-names.ts"
import {
  isRule,
  isUserMemory,
  type Memory,
  type MemoryRefusal,
  type MemorySource,
  type MemoryType,
} from "../memory/memory.ts"
import { parseMemory } from "../memory/topic-file.ts"
import type { RateLimit } from "../model/model.ts"
import { formatFullDiff } from "../tools/files/file-diff.ts"
import type { Tool } from "../tools/tool.ts"
import type { AgentEnvironment } from "./agent-environment.ts"
import type { SingleAgentOptions } from "./options.ts"
import { isInside, type PermissionPolicy } from "./permissions/permission-policy.ts"

const MEMORY_TOOL = "Memory"

/** Permission for the agent's own writes in each memory mode. */
const VERDICTS = { auto: "allow", ask: "ask", "read-only": "deny" } as const

/** Exempts the memory directory from the files that no tool may write. */
export function memoryPermissions({ directory, mode }: ProjectMemory): Pick<PermissionPolicy, "memory"> {
  return directory === undefined ? {} : { memory: { directory, writes: VERDICTS[mode] } }
}

/** Asks the user to approve a memory that an extraction proposes. */
export function confirmWithUser(
  askPermission: NonNullable<SingleAgentOptions["askPermission"]>,
  { directory, bank }: ProjectMemory,
): ConfirmMemory {
  let count = 0
  return async ({ file, name, before = "", after }) => {
    const { allowed } = await askPermission({
      id: `memory-${++count}`,
      tool: MEMORY_TOOL,
      question: {
        kind: "write",
        summary: `${before === "" ? "remember" : "change the memory"} ${name}`,
        paths: [join(directory ?? bank.location, file)],
        preview: formatFullDiff({ before, after }),
      },
      why: 'the setting memory is "ask"',
      onlyUser: true,
      background: true,
    })
    return allowed
  }
}

/** A memory that was saved at the user's request. */
export interface RememberResult {
  /** File name in the memory directory. */
  readonly file: string
  readonly type: MemoryType
  /** Location of the memory store, for display. */
  readonly location: string
}

export class AgentMemory {
  readonly #environment: AgentEnvironment
  readonly #conversationRef: ConversationRef
  readonly #openEnded: (() => Promise<void>)[] = []
  #hasReported = false

  constructor(ground: AgentEnvironment, conversationRef: ConversationRef) {
    this.#environment = ground
    this.#conversationRef = conversationRef
  }

  get #memory(): ProjectMemory | undefined {
    return this.#environment.memory
  }

  get #mode(): MemoryMode {
    return this.#environment.settings.memory
  }

  get #conversation(): Conversation {
    return this.#conversationRef.conversation
  }

  get #layer(): AutoMemory | undefined {
    return this.#conversationRef.layers.find((layer): layer is AutoMemory => layer.name === "auto-memory")
  }

  /** The running extraction. Resolves when its result is in the journal. Never rejects. */
  get extracting(): Promise<void> | undefined {
    return this.#layer?.running()
  }

  /** Records that the provider refused or delayed a request because of rate limits. Memory work pauses for a while. */
  quotaRefused(now: Date): void {
    this.#memory?.quota.recordRefusal(now)
  }

  /** Records the remaining rate limits that a response reported. */
  quotaLeft(limits: readonly RateLimit[]): void {
    this.#memory?.quota.recordLimits(limits)
  }

  /** Consolidates the memory now. `undefined` if the layer is missing. */
  async dream(): Promise<DreamResult | undefined> {
    const layer = this.#conversationRef.layers.find(
      (one): one is DreamingLayer => one.name === "dreaming" && "now" in one,
    )
    if (!layer) return undefined
    let end: DreamResult | undefined
    await engineOf(this.#conversation).layers.act(layer, async (context) => {
      const dreamed = await layer.now(context)
      end = dreamed.end
      return dreamed.outcome
    })
    return end
  }

  /** Lets a file tool of the agent write a memory, and records the change. The remarks state what was not accepted. */
  async runWrite<T>(
    file: string,
    write: () => Promise<T>,
  ): Promise<{ readonly output: T; readonly remarks: readonly string[] }> {
    const { bank, files } = this.#memory!
    const before = await bank.get(file) // attributes earlier manual edits to the user
    const done = await announceWrite(files, [file])
    try {
      const output = await write()
      return { output, remarks: await this.#record(file, before) }
    } finally {
      await done()
    }
  }

  async #record(file: string, before: Memory | undefined): Promise<readonly string[]> {
    const { bank, directory, copy } = this.#memory!
    const conversation = this.#conversation
    // read directly, because the bank would record the new text without its source
    const text = await readFile(join(directory!, file), "utf8").catch(() => undefined)
    const notTaken = (await copy?.installChanges())?.find(({ path }) => path === file)
    if (notTaken) return [`${file} was not kept: ${NOT_KEPT[notTaken.reason]}`]
    if (text === undefined) return []
    const facts = { created: "", source: { saidBy: "agent" as const } }
    const memory = await parseMemory({ file, text, facts })
    const source = sourceOf(memory, await this.#evidence(), before)
    const change = await bank.record({ by: "agent", source, files: [file] })
    const refused = change?.refused ?? []
    if (change && refused.length === 0)
      await engineOf(conversation).noteMemories({ by: "agent", files: [file], change: change.id })
    if (change?.replaced) this.#reportReplaced(file)
    return [
      ...refused.map((refusal) => `${refusal.file} was not kept: ${refusal.why}.`),
      ...unconfirmed(memory, source, refused),
    ]
  }

  async #evidence(): Promise<SourceEvidence> {
    const { bank, kind } = this.#memory!
    const { id } = this.#conversation
    const { views } = engineOf(this.#conversation)
    // a sub-agent's tasks come from another agent, and a command of the agent can start a conversation with any text
    const isUsersTurn = kind === "project" && !(await bank.isCommandRunning())
    const words = isUsersTurn ? views.words.messages : []
    return { conversation: id, words, outside: outsideIn(views.context.storedMessages()) }
  }

  /** Reports a replaced source once per conversation. The file has the details. */
  #reportReplaced(file: string): void {
    if (this.#hasReported) return
    this.#hasReported = true
    const message = `The agent wrote into the memory ${file} where it comes from. Strata replaced that with what it knows itself. See: strata memory show ${file.replace(/\.md$/i, "")}`
    engineOf(this.#conversation).record.events.emit("notice", { message })
  }

  /**
   * Runs a command of the agent. Its changes to the memory are not attributed to the user. `isOpenEnded`: the command continues in the
   * background, so this applies until the conversation ends.
   */
  async duringCommand<T>(run: () => Promise<T>, isOpenEnded: boolean): Promise<T> {
    if (!this.#memory || this.#mode === "read-only") return this.#watched(run, isOpenEnded)
    const { bank, files, copy } = this.#memory
    await bank.all() // attributes earlier manual edits to the user
    const done = await announceWrite(files)
    if (isOpenEnded) this.#openEnded.push(done)
    try {
      return await run()
    } finally {
      await copy?.installChanges()
      await bank.all()
      if (!isOpenEnded) await done()
    }
  }

  /** Runs a command in a conversation that does not record memory changes. Another conversation will record them. */
  async #watched<T>(run: () => Promise<T>, isOpenEnded: boolean): Promise<T> {
    const files = this.#memory?.files ?? this.#unused()
    const done = files && (await watchWrites(files))
    if (isOpenEnded && done) this.#openEnded.push(done)
    try {
      return await run()
    } finally {
      if (!isOpenEnded) await done?.()
    }
  }

  /** Files of the project's memory if memory is off. */
  #unused(): MemoryFiles {
    const { store, project, owner = localUser } = this.#environment
    return projectMemories({ store, project, owner })
  }

  /** Called when the conversation ends, and its commands with it. */
  async close(): Promise<void> {
    if (this.#openEnded.length === 0) return
    await this.#memory?.copy?.installChanges()
    await this.#memory?.bank.all()
    for (const done of this.#openEnded.splice(0)) await done()
  }

  /** Saves a memory at the user's request. */
  async remember(text: string): Promise<RememberResult> {
    if (this.#environment.owner === undefined)
      throw notRemembered("this conversation has no owner", 'Set the option "memory" to one to save memories.')
    if (!this.#memory || this.#mode === "read-only") {
      throw notRemembered(`the setting memory is "${this.#mode}"`, 'Set memory to "auto" or "ask" to save memories.')
    }
    const { bank } = this.#memory
    const conversation = this.#conversation
    const draft = rememberedDraft(text, { saidBy: "user", conversation: conversation.id })
    const change = await bank.change({ by: "person", why: "Asked for by the user", puts: [draft] })
    const file = change?.files.map(({ path }) => path).find((path) => path !== "MEMORY.md")
    const memory = file === undefined ? undefined : await bank.get(file)
    if (!memory) throw notRemembered("it is there already", "Nothing more to do.")
    await engineOf(conversation).noteMemories({
      by: "person",
      files: [memory.file],
      ...(change ? { change: change.id } : {}),
    })
    this.#layer?.attach(memory)
    return { file: memory.file, type: memory.type, location: bank.location }
  }
}

const NOT_KEPT = {
  changed: "someone else changed it in the meantime. Read it again, then repeat your change.",
  "no-text": `a memory is a text in UTF-8 of at most ${MAX_MEMORY_BYTES} bytes.`,
}

/** Explains to the agent why its memory is not a rule: a rule must consist of the user's sentences. */
const unconfirmed = (memory: Memory, source: MemorySource, refused: readonly MemoryRefusal[]): readonly string[] =>
  refused.length > 0 || !isRule(memory) || isUserMemory({ source })
    ? []
    : [
        "It is kept as your note, not as a rule of the user: its text does not consist of whole sentences that the user typed.",
      ]

/** Memory problems to report at opening: missing memory, and stores that the agent's tools can read. */
export function memoryProblems(ground: AgentEnvironment, tools: readonly Tool[]): readonly string[] {
  const { notices = [], withoutCopy } = ground.memory ?? {}
  const copy = withoutCopy === undefined ? [] : [withoutCopy]
  return [...unremembered(ground), ...notices, ...withinReach(ground, tools), ...copy]
}

/** Warns users who configured memory explicitly that nothing is remembered. */
function unremembered({ loaded, settings, owner }: AgentEnvironment): readonly string[] {
  const isWanted = "memory" in loaded.origins && settings.memory !== "off" && !settings.off
  if (!isWanted) return []
  return owner === undefined ? [NO_OWNER] : []
}

const NO_OWNER =
  'Nothing is remembered across conversations: this one has no owner. Set the option "memory" to one, such as { owner: userId }.'

const SEARCHING = new Set(["Read", "Grep", "Glob", "Bash"])

/** Warns if the store is inside the project, where search tools could read other owners' data. */
function withinReach({ owner, root, cwd }: AgentEnvironment, tools: readonly Tool[]): readonly string[] {
  if (typeof owner !== "string" || !isInside(root, cwd) || !tools.some(({ name }) => SEARCHING.has(name))) return []
  return [
    `The tools of this agent can read other owners' data, because the option "dir" (${root}) is inside the project. Choose a directory outside it.`,
  ]
}
