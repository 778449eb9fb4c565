/** The memory of the project in an agent's hands: its own writes, what the person asks to keep, and the questions before a write. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { localUser } from "../base/owner.ts"
import type { MemoryMode } from "../base/vocabulary.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import type { WhenOpen } from "../conversation/open.ts"
import type { ProjectMemory } from "../conversation/project-memory.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import { memoriesOf } from "../journal/project-places.ts"
import type { AutoMemory } from "../layers/5-auto-memory/auto-memory.ts"
import type { ConfirmMemory } from "../layers/5-auto-memory/keep/keep.ts"
import { type Evidence, outsideIn, sourceOf } from "../layers/5-auto-memory/keep/keep.ts"
import { notRemembered, rememberedDraft } from "../layers/5-auto-memory/keep/rules.ts"
import type { DreamResult } from "../layers/6-dreaming/dreaming.ts"
import type { DreamingLayer } from "../layers/6-dreaming/dreaming-layer.ts"
import { announceWrite, watchWrites } from "../memory/changes/hand-edits.ts"
import { MAX_MEMORY_BYTES } from "../memory/file-names.ts"
import {
  isRule,
  isUserMemory,
  type Memory,
  type MemoryProvenance,
  type MemoryRefusal,
  type MemoryType,
} from "../memory/memory.ts"
import { parseMemory } from "../memory/topic-file.ts"
import type { RateLimit } from "../model/model.ts"
import { wholeDiffOf } from "../tools/files/file-diff.ts"
import type { Tool } from "../tools/tool.ts"
import type { Ground } from "./ground.ts"
import type { SingleAgentOptions } from "./options.ts"
import { isInside, type PermissionPolicy } from "./permissions/permission-policy.ts"

const MEMORY_TOOL = "Memory"

/** What a memory mode means for the agent's own writes. */
const VERDICTS = { auto: "allow", ask: "ask", "read-only": "deny" } as const

/** The carve-out from the files that no tool may write. */
export function memoryRights({ directory, mode }: ProjectMemory): Pick<PermissionPolicy, "memory"> {
  return directory === undefined ? {} : { memory: { directory, writes: VERDICTS[mode] } }
}

/** Shows a memory that an extraction proposes. */
export function confirming(
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
        preview: wholeDiffOf({ before, after }),
      },
      why: 'the setting memory is "ask"',
      onlyUser: true,
      background: true,
    })
    return allowed
  }
}

/** A memory that was saved in the person's name. */
export interface Remembered {
  /** The file in the memory directory. */
  readonly file: string
  readonly type: MemoryType
  /** Where the memory is kept, for a person. */
  readonly location: string
}

export class AgentMemory {
  readonly #ground: Ground
  readonly #whenOpen: WhenOpen
  readonly #openEnded: (() => Promise<void>)[] = []
  #hasReported = false

  constructor(ground: Ground, whenOpen: WhenOpen) {
    this.#ground = ground
    this.#whenOpen = whenOpen
  }

  get #memory(): ProjectMemory | undefined {
    return this.#ground.memory
  }

  get #mode(): MemoryMode {
    return this.#ground.settings.memory
  }

  get #conversation(): Conversation {
    return this.#whenOpen.conversation
  }

  get #layer(): AutoMemory | undefined {
    return this.#whenOpen.layers.find((layer): layer is AutoMemory => layer.name === "auto-memory")
  }

  /** The extraction under way, until it is in the journal. It never rejects. */
  get extracting(): Promise<void> | undefined {
    return this.#layer?.running()
  }

  /** The provider refused or delayed a request because of its limits. Memory work waits for a while. */
  quotaRefused(now: Date): void {
    this.#memory?.quota.refused(now)
  }

  /** The provider said with an answer what is left of its limits. */
  quotaLeft(limits: readonly RateLimit[]): void {
    this.#memory?.quota.left(limits)
  }

  /** Consolidates the memory now. Nothing where that is not possible. */
  async dream(): Promise<DreamResult | undefined> {
    const layer = this.#whenOpen.layers.find((one): one is DreamingLayer => one.name === "dreaming" && "now" in one)
    if (!layer) return undefined
    let end: DreamResult | undefined
    await engineOf(this.#conversation).layers.act(layer, async (context) => {
      const dreamed = await layer.now(context)
      end = dreamed.end
      return dreamed.outcome
    })
    return end
  }

  /** Lets a file tool of the agent write a memory, and records it. Resolves with what was taken out again, as sentences. */
  async writing<T>(
    file: string,
    write: () => Promise<T>,
  ): Promise<{ readonly output: T; readonly remarks: readonly string[] }> {
    const { bank, files } = this.#memory!
    const before = await bank.get(file) // edits made by hand until now are the person's
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
    // not through the bank: it would record the new text without its source
    const text = await readFile(join(directory!, file), "utf8").catch(() => undefined)
    const notTaken = (await copy?.takeIn())?.find(({ path }) => path === file)
    if (notTaken) return [`${file} was not kept: ${NOT_KEPT[notTaken.why]}`]
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

  async #evidence(): Promise<Evidence> {
    const { bank, kind } = this.#memory!
    const { id, views } = this.#conversation
    // its tasks come from another agent; and an agent's command can start a conversation and say what it likes
    const isUsersTurn = kind === "project" && !(await bank.isCommandRunning())
    const words = isUsersTurn ? views.words.messages : []
    return { conversation: id, words, outside: outsideIn(views.context.storedMessages()) }
  }

  /** Once in a conversation: the file tells more. */
  #reportReplaced(file: string): void {
    if (this.#hasReported) return
    this.#hasReported = true
    const message = `The agent wrote into the memory ${file} where it comes from. Strata replaced that with what it knows itself. See: strata memory show ${file.replace(/\.md$/i, "")}`
    engineOf(this.#conversation).record.events.emit("notice", { message })
  }

  /**
   * Lets a command of the agent run. What it changes in the memory is not the person's. `isOpenEnded`: it goes on in the background, so this
   * holds until the conversation ends.
   */
  async duringCommand<T>(run: () => Promise<T>, isOpenEnded: boolean): Promise<T> {
    if (!this.#memory || this.#mode === "read-only") return this.#watched(run, isOpenEnded)
    const { bank, files, copy } = this.#memory
    await bank.all() // edits made by hand until now are the person's
    const done = await announceWrite(files)
    if (isOpenEnded) this.#openEnded.push(done)
    try {
      return await run()
    } finally {
      await copy?.takeIn()
      await bank.all()
      if (!isOpenEnded) await done()
    }
  }

  /** The same where this conversation records nothing: what the command changes is left for one that does. */
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

  /** The project's memory where it is off. */
  #unused(): MemoryFiles {
    const { store, project, owner = localUser } = this.#ground
    return memoriesOf({ store, project, owner })
  }

  /** The conversation ends, and its commands with it. */
  async close(): Promise<void> {
    if (this.#openEnded.length === 0) return
    await this.#memory?.copy?.takeIn()
    await this.#memory?.bank.all()
    for (const done of this.#openEnded.splice(0)) await done()
  }

  /** Saves what the person asks to keep. */
  async remember(text: string): Promise<Remembered> {
    if (this.#ground.owner === undefined)
      throw notRemembered("this conversation has no owner", 'Give the option "memory" one to keep something.')
    if (!this.#memory || this.#mode === "read-only") {
      throw notRemembered(`the setting memory is "${this.#mode}"`, 'Set memory to "auto" or "ask" to keep something.')
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

/** The agent learns how to keep a rule: in the user's words. */
const unconfirmed = (memory: Memory, source: MemoryProvenance, refused: readonly MemoryRefusal[]): readonly string[] =>
  refused.length > 0 || !isRule(memory) || isUserMemory({ source })
    ? []
    : [
        "It is kept as your note, not as a rule of the user: its text does not consist of whole sentences that the user typed.",
      ]

/** For the person, at the opening: what an agent does not remember, and whose memories its tools can reach. */
export function memoryProblems(ground: Ground, tools: readonly Tool[]): readonly string[] {
  const { notices = [], withoutCopy } = ground.memory ?? {}
  const copy = withoutCopy === undefined ? [] : [withoutCopy]
  return [...unremembered(ground), ...notices, ...withinReach(ground, tools), ...copy]
}

/** A person who asked for a memory in so many words must know that nothing is kept. */
function unremembered({ loaded, settings, owner }: Ground): readonly string[] {
  const isWanted = "memory" in loaded.origins && settings.memory !== "off" && !settings.off
  if (!isWanted) return []
  return owner === undefined ? [NO_OWNER] : []
}

const NO_OWNER =
  'Nothing is remembered across conversations: this one has no owner. Give the option "memory" one, such as { owner: userId }.'

const SEARCHING = new Set(["Read", "Grep", "Glob", "Bash"])

/** Who searches the project would search the store too. */
function withinReach({ owner, root, cwd }: Ground, tools: readonly Tool[]): readonly string[] {
  if (typeof owner !== "string" || !isInside(root, cwd) || !tools.some(({ name }) => SEARCHING.has(name))) return []
  return [
    `The tools of this agent can read what other owners keep: the option "dir" (${root}) is inside the project. Choose a directory outside it.`,
  ]
}
