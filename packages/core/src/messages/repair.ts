/** The repairs that make a request valid. The journal records each one. */

/** A change that makes the request valid. `id` names the tool call or message it concerns. */
export interface Repair {
  readonly rule: RepairRule
  readonly id: string
}

/** The name of a repair. */
export type RepairRule =
  | "unanswered-tool-use" // got a synthetic error result
  | "orphan-tool-result" // answers no call: dropped
  | "malformed-block" // not a block that the API accepts: set aside, recalled by its handle
  | "unknown-field" // a field that the API does not accept: left out
  | "half-character" // a text was cut inside a character: U+FFFD takes its place
  | "mislabelled-image" // sent with the media type that its bytes show
  | "malformed-tool-use" // the API does not accept its name, id or input: dropped
  | "duplicate-tool-use" // the id was used before: the later call is dropped
  | "duplicate-tool-result" // the first result counts
  | "split-tool-results" // results of one answer came in several messages: joined, because the API wants them in the first
  | "late-tool-result" // an earlier request answered the call synthetically: that answer stays
  | "unanswered-server-tool" // a server call cut off before its result: dropped
  | "orphan-server-result" // dropped
  | "empty-text" // the API rejects empty text: dropped
  | "trailing-thinking" // only thinking, with nothing after it: left out, and never sent later
  | "unsigned-thinking" // cut off during streaming, or from another provider: dropped
  | "unknown-block" // a type that this version does not know, and no response brought or the API refused: left out
  | "unsigned-summary" // the API refused the signed summary, or this model did not write it: its text is sent
  | "starts-with-assistant" // got a first user message
