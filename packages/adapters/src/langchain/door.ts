/** The conversations that an agent's calls belong to. */
import type { CallerOptions } from "../callers/conversations.ts"
import type { StrataOptions } from "../options.ts"
import { shared } from "../shared.ts"
import type { Door } from "./exchange.ts"
import type { LangChainRequest } from "./request.ts"

/** Tools of agents read files of their own: in their state, in a sandbox. A result that we put aside would be out of their reach. */
const KEEPS_RESULTS = { "tool-result-storage": false }

export function doorOf(given: StrataOptions): Door {
  const { conversation, log = () => undefined, settings } = given
  const own = { ...settings, switches: { ...KEEPS_RESULTS, ...settings?.switches } }
  // loaded with the first call: importing this module costs little
  const conversations = async () => {
    const [{ CallerConversations }, { ownModel }] = await Promise.all([
      import("../callers/conversations.ts"),
      import("./own-model.ts"),
    ])
    const make = (options: CallerOptions) =>
      new CallerConversations<LangChainRequest>(options, (last) => ({ model: ownModel(last, modelsIn(settings)) }))
    return shared("langchain", { ...given, settings: own }, make)
  }
  return { take: async (request) => (await conversations()).take(request), conversation, log }
}

const modelsIn = (settings: StrataOptions["settings"]) =>
  settings?.models === undefined ? {} : { models: settings.models }
