/** Looks up the conversations of an agent's calls. */
import type { ClientConversationsOptions } from "../clients/conversations.ts"
import { sharedConversations } from "../conversation-pool.ts"
import type { StrataOptions } from "../options.ts"
import type { ConversationLookup } from "./model-call.ts"
import type { LangChainRequest } from "./request.ts"

/** Agents read files from their own state or a sandbox, where an offloaded result would be out of reach. */
const NO_OFFLOADING = { "tool-result-storage": false }

export function createLookup(given: StrataOptions): ConversationLookup {
  const { conversation, log = () => undefined, settings } = given
  const settingsHere = { ...settings, switches: { ...NO_OFFLOADING, ...settings?.switches } }
  // imported with the first call, so that importing this module costs little
  const conversations = async () => {
    const [{ ClientConversations }, { strataModel }] = await Promise.all([
      import("../clients/conversations.ts"),
      import("./strata-model.ts"),
    ])
    const make = (options: ClientConversationsOptions) =>
      new ClientConversations<LangChainRequest>(options, (last) => ({ model: strataModel(last, modelsIn(settings)) }))
    return sharedConversations("langchain", { ...given, settings: settingsHere }, make)
  }
  return { take: async (request) => (await conversations()).take(request), conversation, log }
}

const modelsIn = (settings: StrataOptions["settings"]) =>
  settings?.models === undefined ? {} : { models: settings.models }
