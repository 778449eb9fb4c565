/** Opens conversations: new ones, those kept earlier, and branches of them. The one place where defaults are filled in. */
import { type Clock, systemClock } from "../base/clock.ts"
import { createFlags, type FlagClient } from "../base/flags.ts"
import { type Ids, projectName, randomIds } from "../base/ids.ts"
import { loadSettings, type SettingsInput } from "../base/settings.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { defaultRoot } from "../journal/file/layout.ts"
import type { Store } from "../journal/store.ts"
import type { Layer } from "../layers/layer.ts"
import { findModel } from "../tokens/models.ts"
import { loadViews, viewOptions } from "../views/views.ts"
import { Conversation } from "./conversation.ts"
import type { Prompt } from "./prompt.ts"

export interface OpenConversation extends Prompt {
  readonly model: string
  /** A conversation kept earlier, or the id of a new one. Without it a new one begins. */
  readonly id?: string
  /** Refuse to begin a new conversation where there is none with this id. */
  readonly mustExist?: boolean
  /** The root under which everything is kept. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  /** The project's directory. Default: the working directory. */
  readonly cwd?: string
  readonly title?: string
  readonly settings?: SettingsInput
  readonly betas?: readonly string[]
  readonly layers?: readonly Layer[]
  /** Asked after a boundary for what the prompt is to be from there on. */
  readonly refreshPrompt?: () => Promise<Prompt>
  /** Drives the flags from outside. */
  readonly flags?: FlagClient
  readonly store?: Store
  readonly clock?: Clock
  readonly ids?: Ids
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export async function openConversation(options: OpenConversation): Promise<Conversation> {
  const { model, clock = systemClock, ids = randomIds, env = process.env, layers = [], betas = [] } = options
  const { createTelemetry } = await import("../base/telemetry.ts") // loads the OpenTelemetry API, which importing us should not
  const cwd = options.cwd ?? process.cwd()
  const root = options.dir ?? defaultRoot(env)
  const settings = await loadSettings({ home: root, cwd, env, ...(options.settings ? { code: options.settings } : {}) })
  const store = options.store ?? fileStore({ root, flush: settings.values.flush, clock })
  const refusals: string[] = []
  const address = { project: projectName(cwd), id: options.id ?? ids.uuid() }
  const journal = await store.open(address, { access: "write", create: !options.mustExist })
  try {
    const { facts } = findModel(model, settings.values.models)
    const flags = createFlags({
      onRefused: (message) => refusals.push(message),
      settings: settings.values,
      context: { targetingKey: address.id, model },
      ...(options.flags ? { client: options.flags } : {}),
    })
    await flags.read()
    const { views, read } = await loadViews(journal, viewOptions(facts, settings.values.models))
    return new Conversation({
      store,
      journal,
      views,
      opened: { ...journal.opening, resumed: views.context.newest !== undefined, read },
      model,
      prompt: promptOf(options),
      cwd,
      ...(options.title === undefined ? {} : { title: options.title }),
      betas,
      settings,
      refusals,
      flags,
      telemetry: createTelemetry({ exportContent: settings.values.exportContent }),
      clock,
      ids,
      layers,
      ...(options.refreshPrompt ? { refreshPrompt: options.refreshPrompt } : {}),
    })
  } catch (error) {
    await journal.close()
    throw error
  }
}

function promptOf({ system, tools, context }: OpenConversation): Prompt {
  return {
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    ...(context === undefined ? {} : { context }),
  }
}
