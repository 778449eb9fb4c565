/** `@strata/core/callers-http`. The same for callers that speak the Messages API over HTTP: the proxy and wrapped SDK clients. */
import "../base/node-version.ts"

export { type AnswerCourse, answerEvents, RefusedAgain } from "../callers/http/answer-events.ts"
export { answerJson } from "../callers/http/answer-json.ts"
export { CONVERSATION_HEADER, namedIn } from "../callers/http/client-identity.ts"
export { HttpConversations, isMessagesBody } from "../callers/http/conversations.ts"
export { ParsedBodies } from "../callers/http/parsed-bodies.ts"
