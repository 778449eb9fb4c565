/** Plans for clients' requests: it follows their lists and keeps their journals. */
import type { CallerOptions } from "../callers/conversations.ts"
import { HttpConversations } from "../callers/http/conversations.ts"
import type { Plans } from "./plans.ts"

export interface ConversationsOptions extends CallerOptions {
  /** Where requests of our own go: the same server. */
  readonly upstream: string
}

export class Conversations extends HttpConversations implements Plans {
  constructor({ upstream, ...options }: ConversationsOptions) {
    super({ ...(options.log ? { onCompaction: options.log } : {}), ...options }, { upstream })
  }
}
