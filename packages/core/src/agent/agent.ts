/**
 * An agent, ready to work: a conversation, a model, tools, permissions, hooks, instruction files, wired together. Everything it is made of
 * can be brought along; what is not given is filled in.
 */
import { realpath } from "node:fs/promises"
import { join } from "node:path"
import { type Clock, systemClock } from "../base/clock.ts"
import { CompactionFailedError } from "../base/errors.ts"
import { type Ids, projectName } from "../base/ids.ts"
import { loadSettings, type Settings, type SettingsInput } from "../base/settings.ts"
import { createTelemetry, type Telemetry } from "../base/telemetry.ts"
import type { PermissionMode } from "../base/vocabulary.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { defaultLayers, type LayerSurroundings } from "../conversation/default-layers.ts"
import { openConversation } from "../conversation/open.ts"
import { defaultRoot, notesConfigDirectory, projectDirectory } from "../journal/file/layout.ts"
import type { Store } from "../journal/store.ts"
import { compactInstructionsIn } from "../layers/4-compaction/guidance.ts"
import type { Layer } from "../layers/layer.ts"
import type { Content } from "../messages/blocks.ts"
import type { Uuid } from "../messages/messages.ts"
import type { Model } from "../model/model.ts"
import { findModel } from "../tokens/models.ts"
import { thresholdsFor } from "../tokens/thresholds.ts"
import { fitsModel, type Thresholds } from "../tokens/window.ts"
import { toolDefinition } from "../tools/definition/definition.ts"
import type { PersonQuestion, ReadState, Tool } from "../tools/tool.ts"
import { AgentState } from "./agent-state.ts"
import { withoutOmitted } from "./carried-features.ts"
import { compactionHooks } from "./compaction-hooks.ts"
import { commandHooks, type Hook, type HookInput, runHooks } from "./hooks.ts"
import { InstructionWatch } from "./instruction-watch.ts"
import { isInside, judge, type Request } from "./permissions.ts"
import { query } from "./query.ts"
import type { QueryEnd, QueryEvent } from "./query-events.ts"
import type { PermissionAnswer, PermissionRequest } from "./run-tools.ts"
import { codingPrompt } from "./system-prompt.ts"

export interface AgentOptions {
  readonly model: Model
  readonly tools: readonly Tool[]
  /** The project's directory: paths are relative to it, and reading in it needs no permission. */
  readonly cwd: string
  readonly system?: string
  readonly id?: string
  readonly mustExist?: boolean
  readonly dir?: string
  readonly title?: string
  readonly mode?: PermissionMode
  readonly askPermission?: (request: PermissionRequest) => Promise<PermissionAnswer>
  readonly askPerson?: (question: PersonQuestion) => Promise<string | undefined>
  /** Shows a plan and asks to go ahead. Without it, plans are approved by nobody. */
  readonly approvePlan?: (plan: string) => Promise<{ readonly approved: boolean; readonly remark?: string }>
  readonly hooks?: readonly Hook[]
  readonly reads: ReadState
  readonly settings?: SettingsInput
  /** Writes summaries where the conversation's own model is not to do it (L4-13). */
  readonly summariser?: Model
  /** Nobody is there to answer: after a compaction the agent is told to go on by itself. */
  readonly autonomous?: boolean
  /** Default: those of `defaultLayers`, each behind its switch. */
  readonly layers?: readonly Layer[] | ((surroundings: LayerSurroundings) => readonly Layer[])
  readonly store?: Store
  readonly clock?: Clock
  readonly ids?: Ids
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface AskOptions {
  readonly signal?: AbortSignal
  readonly maxTurns?: number
  readonly costLimit?: number
}

export async function openAgent(options: AgentOptions): Promise<Agent> {
  const { clock = systemClock, env = process.env } = options
  const cwd = await realpath(options.cwd)
  const root = options.dir ?? defaultRoot(env)
  const settings = await loadSettings({ home: root, cwd, env, ...(options.settings ? { code: options.settings } : {}) })
  const { permissions } = settings.values
  const learned = await learnModel(options.model, settings.values.models)
  const hooks = [...(options.hooks ?? []), ...commandHooks(settings.values.hooks, env)]
  const instructions = await InstructionWatch.start({ home: root, project: cwd, cwd, mayRead: () => true })
  const state = new AgentState({
    policy: {
      mode: options.mode ?? permissions.mode ?? "ask",
      allow: permissions.allow ?? [],
      ask: permissions.ask ?? [],
      deny: permissions.deny ?? [],
      project: cwd,
      kept: [root],
      readable: [join(projectDirectory(root, projectName(cwd)), "tool-results")],
    },
    directory: cwd,
    clock,
    env,
    ...pick(options, ["reads", "askPerson", "approvePlan"]),
  })
  const session = () => ({ session_id: chat.id, transcript_path: chat.location, cwd: state.directory })
  const layers = layersOf(options, {
    ...pick(options, ["model", "tools", "reads", "summariser", "autonomous"]),
    toolContext: state.toolContext,
    hooks: compactionHooks(hooks, session),
    guidance: () => [
      settings.values.compactInstructions ?? "",
      ...Object.values(instructions.texts).map(compactInstructionsIn),
    ],
    excluded: () => ({ files: instructions.paths, directories: [root] }),
    mayRead: (path) => isInside(path, cwd) && judge(readingOf(path), state.policy).verdict === "allow",
    notesConfig: notesConfigDirectory(root),
  })
  const chat: Conversation = await openConversation({
    model: options.model.name,
    cwd,
    dir: root,
    env,
    clock,
    system: options.system ?? systemPrompt({ cwd, date: clock.now() }),
    tools: await Promise.all(options.tools.map(toolDefinition)),
    context: instructions.texts,
    refreshPrompt: async () => ({ context: await instructions.renew() }),
    layers,
    ...pick(options, ["id", "mustExist", "title", "store", "ids"]),
    settings: {
      ...options.settings,
      models: {
        ...learned,
        ...options.settings?.models,
        ...withoutOmitted(options.model, { ...learned, ...settings.values.models }),
      },
    },
  })
  state.todos = chat.views.frontier.todos
  const agent = new Agent({
    ...options,
    clock,
    chat,
    state,
    hooks,
    instructions,
    telemetry: createTelemetry({ exportContent: settings.values.exportContent }),
  })
  await agent.start()
  return agent
}

const readingOf = (path: string): Request => ({
  tool: "Read",
  isReadOnly: true,
  question: { kind: "read", summary: `read ${path}`, paths: [path] },
})

const layersOf = ({ layers = defaultLayers }: AgentOptions, surroundings: LayerSurroundings): readonly Layer[] =>
  typeof layers === "function" ? layers(surroundings) : layers

/** WIN-8: what the provider tells about a model that the data file does not have. */
async function learnModel(model: Model, known: Settings["models"]): Promise<Settings["models"]> {
  if (findModel(model.name, known).known) return {}
  const lookup = await model.learn?.().catch(() => undefined)
  if (!lookup?.known) return {}
  const { id, family, window, maxOutput, minCacheable, price } = lookup.facts
  return { [id]: { family, window, maxOutput, minCacheable, ...(price ? { price } : {}) } }
}

interface AgentParts extends AgentOptions {
  readonly chat: Conversation
  readonly clock: Clock
  readonly state: AgentState
  readonly hooks: readonly Hook[]
  readonly instructions: InstructionWatch
  readonly telemetry: Telemetry
}

export class Agent {
  readonly chat: Conversation
  readonly #parts: AgentParts
  readonly #state: AgentState
  #closed = false

  constructor(parts: AgentParts) {
    this.#parts = parts
    this.#state = parts.state
    this.chat = parts.chat
  }

  get model(): Model {
    return this.#parts.model
  }

  get mode(): PermissionMode {
    return this.#state.policy.mode
  }

  setMode(mode: PermissionMode): void {
    this.#state.setMode(mode)
  }

  /** Allows what a rule names for the rest of this conversation. */
  allow(rule: string): void {
    this.#state.allow(rule)
  }

  /** WIN-7: before the conversation goes on with another model: where it would not fit there, it is compacted, by the model it has. */
  async makeRoomFor(target: Model, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { values } = this.chat.settings
    const limits = thresholdsFor({ name: target.name, values, betas: [] }, findModel(target.name, values.models))
    if (fitsModel(this.chat.fill().used, limits)) return
    const fixed = this.chat.views.context.promptTokens
    if (!fitsModel(fixed, limits)) throw noRoom(target, { limits, taken: `instructions and tools alone take ${fixed}` })
    await this.chat.compact({ trigger: "auto", target: limits }, signal ? { signal } : {})
    const { used } = this.chat.fill()
    if (!fitsModel(used, limits)) throw noRoom(target, { limits, taken: `the summary left ${used}` })
  }

  /** Asks the agent for something and watches it work. Without a prompt it goes on where it was interrupted. */
  query(prompt: Content | undefined, ask: AskOptions = {}): AsyncGenerator<QueryEvent, QueryEnd> {
    const { model, tools, hooks, telemetry, clock, askPermission, instructions } = this.#parts
    return query(prompt, {
      chat: this.chat,
      model,
      cwd: () => this.#state.directory,
      attachmentsFor: (touched) => instructions.due(touched),
      tools: {
        tools,
        hooks,
        telemetry,
        context: this.#state.toolContext,
        policy: () => this.#state.policy,
        now: () => clock.now().getTime(),
        ...(askPermission ? { askPermission } : {}),
      },
      ...ask,
    })
  }

  /** What the user types while the agent is busy: kept at once, delivered at the next round. */
  enqueue(text: string): Promise<Uuid> {
    return this.chat.enqueue(text)
  }

  async start(): Promise<void> {
    this.#parts.instructions.remember(this.chat.views.context.storedMessages())
    for (const path of this.#parts.instructions.paths) {
      await this.#hook("InstructionsLoaded", { file_path: path, load_reason: "session_start" })
    }
    const outcome = await this.#hook("SessionStart", {
      source: this.chat.opened.resumed ? "resume" : "startup",
      model: this.model.name,
    })
    for (const { hook, text } of outcome.contexts) await this.chat.attach({ type: "hook_output", hook, content: text })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#hook("SessionEnd", { reason: "exit" })
    await this.chat.close()
  }

  #hook(event: HookInput["hook_event_name"], more: Record<string, unknown>) {
    const { hooks } = this.#parts
    const input = {
      hook_event_name: event,
      session_id: this.chat.id,
      transcript_path: this.chat.location,
      cwd: this.#state.directory,
      ...more,
    }
    return runHooks(hooks, input, String(more.source ?? ""))
  }
}

function noRoom({ name }: Model, { limits, taken }: { readonly limits: Thresholds; readonly taken: string }) {
  return new CompactionFailedError(
    "out-of-reach",
    `The conversation cannot go on with ${name}: it takes ${limits.limit} tokens, and ${taken}. Everything is kept.`,
  )
}

/** Said to every model we run. Rendered once: the date is that of the start. */
function systemPrompt({ cwd, date }: { cwd: string; date: Date }): string {
  return `${codingPrompt()}\n\nWorking directory: ${cwd}\nPlatform: ${process.platform}\nDate at the start: ${date.toISOString().slice(0, 10)}`
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]])) as Pick<T, K>
}
