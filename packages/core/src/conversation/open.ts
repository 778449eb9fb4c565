/** Opens conversations: new ones, stored ones, and branches. Fills in defaults. */
import { randomIds, systemClock } from "../base/clock.ts"
import { ConversationNotFoundError } from "../base/errors.ts"
import { InvalidOptionError } from "../base/options.ts"
import { type MemoryOption, type Owner, ownerOption } from "../base/owner.ts"
import type { Project } from "../base/project.ts"
import type { Telemetry } from "../base/telemetry.ts"
import { notesConfigDirectory, strataDirectory } from "../journal/file/layout.ts"
import { estimateSpending } from "../journal/in-flight.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import { type ProjectInStore, projectNamespace } from "../journal/project-namespaces.ts"
import { resolveProject } from "../journal/resolve-project.ts"
import type { Journal, JournalAddress, Store } from "../journal/store.ts"
import { storeFrom } from "../journal/store-from.ts"
import { waitForLock } from "../journal/wait-for-lock.ts"
import { compactInstructionsIn } from "../layers/4-compaction/compaction-context.ts"
import type { Layer } from "../layers/layer.ts"
import type { Attachment } from "../messages/attachments.ts"
import { chooseModel, isReachable } from "../model/choose-model.ts"
import { isOffline, type Model, tracedModel } from "../model/model.ts"
import { CostBudget } from "../model/spending/budget.ts"
import { Meter, meteredModel } from "../model/spending/meter.ts"
import { createFlags, type FlagReader } from "../settings/flags.ts"
import { type EffectiveSettings, loadSettings, type Settings } from "../settings/settings.ts"
import { describeUntrusted } from "../settings/trust.ts"
import { findModel, windowBetas } from "../tokens/models.ts"
import type { DeferredTools } from "../tools/deferred/deferred-tools.ts"
import { withReranking } from "../tools/session/rerank.ts"
import type { ContextView } from "../views/context/context.ts"
import { loadViews } from "../views/load.ts"
import { isInside } from "../views/record/file-paths.ts"
import { viewOptions } from "../views/views.ts"
import { Conversation, engineOf } from "./conversation.ts"
import { customLoopLayers } from "./default-layers.ts"
import { messageDrafts } from "./incoming.ts"
import { type ConversationOptions, checkConversationOptions } from "./options.ts"
import { askedLifetime, createPausePattern, PAUSES } from "./pauses.ts"
import { memoryFor, type ProjectMemory } from "./project-memory.ts"
import { checkPrompt, definitionOf, modelSettings, type Prompt, resolvePrompt } from "./prompt.ts"
import { resolveConversationNamespace } from "./resolve-namespace.ts"
import { LIMITS, limitsIn } from "./window.ts"

// A reference to the conversation that is set once it is open. Model, tools and layers are created before the conversation that uses them,
// and access it through this reference later.

interface Open {
  readonly conversation: Conversation
  readonly layers: readonly Layer[]
}

export class ConversationRef {
  #open: Open | undefined

  /** Sets the conversation. Called once. */
  begin(open: Open): void {
    this.#open = open
  }

  get conversation(): Conversation {
    return this.#begun.conversation
  }

  get layers(): readonly Layer[] {
    return this.#begun.layers
  }

  get #begun(): Open {
    if (!this.#open) throw new Error("The conversation is still opening. Try again later.")
    return this.#open
  }
}

export async function openConversation(options: ConversationOptions): Promise<Conversation> {
  checkConversationOptions(options)
  const { env = process.env, cwd = process.cwd() } = options
  const home = options.dir ?? strataDirectory(env)
  const settings = await loadSettings({ home, cwd, env, ...(options.settings ? { code: options.settings } : {}) })
  // hooks, servers and rules of a project do not apply here, so only settings are worth a notice
  const missing = (settings.untrusted ?? []).filter(({ kind }) => kind === "setting")
  return openWithSettings(options, { settings, notices: [...describeUntrusted(missing)], sleeps: true })
}

export interface OpenContext {
  readonly settings: EffectiveSettings
  /** Notices that are reported with the first request. */
  readonly notices?: string[]
  /** Flags that were already read. Refused values are added to `notices`. */
  readonly flags?: FlagReader
  /** Prompt of a new conversation. A resumed one continues with the prompt in its journal, so that the server's cache still matches. */
  readonly firstPrompt?: Prompt
  /** Deferred tools, and the two tools that load and call them. */
  readonly deferred?: Pick<DeferredTools, "deferrable" | "search" | "call" | "growth"> & {
    readonly isOn: () => boolean
  }
  /** Pending notices for the model. Called before each request. */
  readonly due?: (context: ContextView) => readonly Attachment[]
  /** Memory that the layers use. It is closed with the conversation. */
  readonly memory?: ProjectMemory
  /** Whether the model reports its requests itself. */
  readonly isTraced?: boolean
  readonly meter?: Meter
  /** Whether a program uses the conversation instead of a user. Default: false. */
  readonly isProgram?: boolean
  /** Whether the views may be unloaded while the conversation is idle. Default: false, because an agent holds references to them. */
  readonly sleeps?: boolean
  /** Address of the journal. A sub-agent's journal is nested under its lead's, wherever the agent works. */
  readonly address?: Omit<JournalAddress, "id">
  /** Project of the conversation. Default: the one that the options name. */
  readonly project?: Project
}

/** Opens a conversation with settings that are already loaded. */
export async function openWithSettings(options: ConversationOptions, prepared: OpenContext): Promise<Conversation> {
  checkConversationOptions(options)
  const basis = await resolveOptions(options, prepared)
  const initialMessages = options.messages?.length ? options.messages : undefined
  if (initialMessages) messageDrafts(initialMessages) // refuses invalid messages before a journal exists
  const prompts = await resolvePrompts(options, prepared)
  const { settings, root, cwd, clock, env } = basis
  const store = storeFrom({ store: options.store, dir: root, env, flush: settings.values.flush, clock })
  const place = { ...basis, store }
  const project = prepared.project ?? (await projectOf(options, place))
  const memory =
    prepared.memory ??
    (options.layers
      ? undefined
      : await memoryFor(basis.memoryOption, { store, settings, cwd, clock, project, env, root }))
  const journal = await openJournal(options, prepared, { ...place, project })
  try {
    const conversation = await createConversation(journal, { ...place, options, prepared, prompts, memory })
    const past = options.rerank
      ? withReranking(engineOf(conversation).past, options.rerank)
      : engineOf(conversation).past
    for (const tool of options.tools ?? []) if ("execute" in tool) tool.useIn?.(past)
    await recordInFlight(conversation, journal)
    if (initialMessages) await conversation.add(initialMessages)
    return conversation
  } catch (error) {
    await journal.close()
    throw error
  }
}

/** Options with defaults filled in. */
interface ResolvedOptions
  extends Required<Pick<ConversationOptions, "clock" | "ids" | "env" | "betas" | "source" | "cwd">> {
  readonly root: string
  readonly model: Model
  readonly memoryOption: MemoryOption
  readonly owner: Owner | undefined
  readonly settings: EffectiveSettings
  readonly telemetry: Telemetry
  readonly meter: Meter
}

async function resolveOptions(
  options: ConversationOptions,
  { settings: given, meter }: OpenContext,
): Promise<ResolvedOptions> {
  const { clock = systemClock, ids = randomIds, env = process.env, betas = [], source = "main" } = options
  const { createTelemetry } = await import("../base/telemetry.ts") // loads the OpenTelemetry API on demand
  const model = await chooseModel({
    model: options.model, // not spread, because options may be a class instance
    client: options.client,
    env,
    betas,
    models: given.values.models,
    cacheLifetime: given.values.cacheLifetime,
  })
  const models = { ...given.values.models, ...modelSettings(model, given.values.models) }
  const memoryOption = options.memory ? { ...options.memory } : false // copied, because the caller may change its object
  return {
    ...{ clock, ids, env, betas, source, model },
    memoryOption,
    owner: ownerOption(memoryOption),
    cwd: options.cwd ?? process.cwd(),
    root: options.dir ?? strataDirectory(env),
    settings: { ...given, values: { ...given.values, models } },
    telemetry: createTelemetry({ exportContent: given.values.exportContent, clock }),
    meter: meter ?? new Meter({ budget: new CostBudget(), clock, ids, source }),
  }
}

const projectOf = (
  { project }: ConversationOptions,
  { cwd, env, root, settings, store }: ResolvedOptions & { readonly store: Store },
): Promise<Project> => resolveProject({ ...{ cwd, env, root, project, store }, settings: settings.values })

/** Opens the journal in the owner's namespace if it exists there, as most do. Other namespaces are checked only otherwise. */
async function openJournal(
  { id: given, mustExist = false, lockTimeoutMs = 0 }: ConversationOptions,
  { address }: OpenContext,
  { store, project, owner, ids, clock }: ResolvedOptions & { readonly store: Store; readonly project: Project },
): Promise<Journal> {
  const id = given ?? ids.uuid()
  const open = (at: Omit<JournalAddress, "id">, create: boolean) =>
    waitForLock(() => store.open({ ...at, id }, { access: "write", create, preload: true }), { lockTimeoutMs, clock })
  if (address) return open(address, !mustExist)
  const whose: ProjectInStore = { store, project, owner }
  if (given === undefined) return open({ project: projectNamespace(whose) }, true)
  if (typeof owner === "string") {
    const kept = await open({ project: projectNamespace(whose) }, false).catch((error: unknown) => {
      if (error instanceof ConversationNotFoundError) return undefined
      throw error
    })
    if (kept) return kept
  }
  return open({ project: await resolveConversationNamespace({ ...whose, id }) }, !mustExist)
}

interface OpeningInput extends ResolvedOptions {
  readonly options: ConversationOptions
  readonly prepared: OpenContext
  readonly store: Store
  readonly memory: ProjectMemory | undefined
  readonly prompts: Awaited<ReturnType<typeof resolvePrompts>>
}

async function createConversation(journal: Journal, opening: OpeningInput): Promise<Conversation> {
  const { options, prepared, prompts, store, memory } = opening
  const { clock, ids, env, betas, source, model, cwd, owner, settings, telemetry, meter } = opening
  const { isTraced = false, isProgram = false, sleeps = false } = prepared
  const { cacheBreakpoints = true, contextManagement: serverClears = false } = options
  const refusals = prepared.notices ?? []
  if (!prepared.memory) refusals.push(...(memory?.notices ?? [])) // an agent reports them itself
  const { id } = journal.address
  const shared = store.memories({ shared: true })
  const sharedTexts = await readTexts(shared, [LIMITS, PAUSES])
  const { models } = settings.values
  const { facts } = findModel(model.name, models)
  const needed = windowBetas(model.name, facts)
  const asked = isReachable({ model: options.model, client: options.client, env }) ? model : await withoutNetwork()
  const summariser = await summariserFor(asked, { options, settings: settings.values, env })
  // an agent's model sends the betas it needs; in a custom loop, only requests for the beta endpoint can contain them
  const sendsBetas = (isTraced || serverClears) && !settings.values.off
  const following = viewOptions(facts, { models, sendsBetas })
  const { views, read } = await loadViews(journal, following, journal.preloaded)
  if (options.messages?.length && views.context.newest) throw alreadyBegun(id)
  const conversationRef = new ConversationRef()
  const layers = options.layers ?? layersOf(opening, { model: asked, summariser, conversationRef })
  const conversation = new Conversation({
    store,
    journal,
    views,
    viewOptions: following,
    opened: { ...journal.opening, resumed: views.context.newest !== undefined, read },
    model: model.name,
    ...prompts,
    cwd,
    title: options.title,
    source,
    betas: isTraced || serverClears ? [...betas, ...needed] : betas,
    requestBetas: serverClears ? needed : [],
    settings,
    refusals,
    flags:
      prepared.flags ??
      createFlags({
        onRefused: (message) => refusals.push(message),
        settings: settings.values,
        context: { targetingKey: id, model: model.name },
        ...(options.flags ? { client: options.flags } : {}),
      }),
    ...{ telemetry, isTraced, provider: model.provider, address: model.address, meter },
    habits: createPausePattern({
      storage: source === "main" ? { files: shared, store, text: sharedTexts.get(PAUSES) } : undefined,
      requested: askedLifetime(options, views.cacheHistory),
      ...{ owner, isProgram, before: views.cacheHistory.pauses },
    }),
    limits: { files: shared, ...limitsIn(sharedTexts.get(LIMITS)) },
    clock,
    ids,
    layers,
    release: () => memory?.close(),
    isShared: owner !== undefined,
    namespaces: memory && (() => memory.namespaces()),
    embed: options.embed,
    cacheBreakpoints,
    refreshPrompt: options.refreshPrompt,
    due: prepared.due ?? (() => []),
    sleeps,
  })
  conversationRef.begin({ conversation, layers })
  return conversation
}

/** Reads texts. Unreadable ones count as missing. */
async function readTexts(files: MemoryFiles, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const read = await files.readAll({ folders: [], paths }).catch(() => [])
  return new Map(read.flatMap(({ path, text }) => (text === undefined ? [] : [[path, text] as const])))
}

interface LayerModels {
  /** The conversation's model, or the offline model if it cannot be reached. */
  readonly model: Model
  readonly summariser: Model | undefined
  readonly conversationRef: ConversationRef
}

/** Layers of a custom loop. */
function layersOf(opening: OpeningInput, { model: asked, summariser, conversationRef }: LayerModels): readonly Layer[] {
  const { options, clock, cwd, root, source, settings, telemetry, memory, meter } = opening
  const { cacheBreakpoints = true, contextManagement: serverClears = false } = options
  const counted = (model: Model) =>
    meteredModel(
      tracedModel(model, {
        ...{ telemetry, source },
        conversation: () => conversationRef.conversation.id,
        context: () => engineOf(conversationRef.conversation).views.ledger.context,
      }),
      meter,
    )
  return customLoopLayers({
    model: counted(asked),
    ...{ clock, serverClears, cacheBreakpoints, notesConfig: notesConfigDirectory(root) },
    ...(memory ? { memory } : {}),
    compaction: {
      ...(summariser ? { summariser: counted(summariser) } : {}),
      guidance: () => [
        settings.values.compactInstructions ?? "",
        ...Object.values(options.context ?? {}).map(compactInstructionsIn),
      ],
      excluded: () => ({ files: [], directories: [root] }),
      // no rules apply in a custom loop; files of the project that the model saw may be shown again
      mayRead: (path) => isInside(path, cwd),
    },
  })
}

/** Records requests that were in flight when an earlier process was killed, with estimated cost. */
async function recordInFlight(conversation: Conversation, { inFlight }: Journal): Promise<void> {
  const left = inFlight?.unsettled() ?? []
  if (left.length === 0) return
  const engine = engineOf(conversation)
  const { recent } = engine.views.ledger
  await engine.note(left.filter(({ responseId = "" }) => !recent.has(responseId)).map(estimateSpending))
  inFlight?.clear()
}

interface SummariserChoice {
  readonly options: Pick<ConversationOptions, "client">
  readonly settings: Settings
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The summariser from the settings, used with the conversation's client. */
async function summariserFor(model: Model, { options, settings, env }: SummariserChoice): Promise<Model | undefined> {
  const { summariserModel, models, cacheLifetime } = settings
  if (summariserModel === undefined || isOffline(model)) return undefined
  const sibling = model.sibling?.(summariserModel)
  if (sibling) return sibling
  return chooseModel({ model: summariserModel, client: options.client, env, models, cacheLifetime })
}

/** The offline model, which builds notes, memories and summaries from quotations. */
async function withoutNetwork(): Promise<Model> {
  const { offlineModel } = await import("../model/offline/offline-model.ts")
  return offlineModel()
}

const alreadyBegun = (id: string) =>
  new InvalidOptionError(
    "messages",
    `The conversation ${id} already has messages, so the option "messages" was not used. Nothing was changed. Leave it out to continue, or choose another id.`,
  )

/** Resolves the prompts. Invalid ones are refused before a journal exists. */
async function resolvePrompts(options: ConversationOptions, { firstPrompt = {}, deferred }: OpenContext) {
  const prompt = await resolvePrompt(options)
  checkPrompt(prompt)
  checkPrompt(firstPrompt)
  const deferral = deferred && {
    ...deferred,
    search: await definitionOf(deferred.search),
    call: await definitionOf(deferred.call),
  }
  return { prompt, firstPrompt, deferral }
}
