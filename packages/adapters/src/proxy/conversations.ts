/** Plans for clients' requests: follows their lists and writes their journals. */
import type { ClientConversationsOptions } from "../clients/conversations.ts"
import { HttpConversations } from "../clients/http/http-conversations.ts"
import type { RequestPlanner } from "./plans.ts"

export interface ConversationsOptions extends ClientConversationsOptions {
  /** Server for Strata's own requests, which is the same server. */
  readonly upstream: string
}

export class Conversations extends HttpConversations implements RequestPlanner {
  constructor({ upstream, ...options }: ConversationsOptions) {
    super({ ...(options.log ? { onCompaction: options.log } : {}), ...options }, { upstream })
  }
}
