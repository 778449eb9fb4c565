/**
 * Whether a sentence states where something is: "The runbook is at https://…", "Team calendar: https://…". An address in code, in a log
 * or in a question does not count, and neither does one on this machine.
 */

const MAX_CHARACTERS = 200 // characters besides the address
const MAX_BEFORE = 12 // words
const ADDRESS = /<?https?:\/\/[^\s<>]+>?/giu
/** Local, temporary or template addresses. */
const NOT_LASTING = /\/\/(?:localhost|127\.|0\.0\.0\.0|192\.168\.|10\.|\[)|[{}$`\\]|%s/u
/** Code, markup, commands and logs. */
const CODE =
  /[={}()[\];|`<>\\@$]|^\s*(?:#|\/\/|\*|-{1,2}\w|at )|\b(?:GET|POST|PUT|DELETE|HEAD|ERROR|WARN|INFO|DEBUG|curl|wget|npm|pip|git|import|const|let|var|return|export|src|href|origin|upstream)\b|\d{2}:\d{2}:\d{2}/u
const ASKS = /[?？؟¿]/u
const MENTIONS =
  /\b(?:i|i'm|i've|you|me|we're|error|errors|fail\w*|status|response|request|issue|bug|it|this|that|which|according|says?|said|gives?|shows?|returns?|please|check|read|open|look|summari[sz]e)\b(?! (?:can|will) find)/iu
const FINDS = /^(?:you|we) (?:can|will) find\b.*\b(?:at|in|on|under|here)\b/iu
/** Words before the address. A name with a colon is enough. */
const IS_AT =
  /(?:\b(?:is|are|lives?|sits?|stays?|(?:is|are|can be) (?:kept|found|hosted|stored|documented|published|tracked)) (?:\w+ )?(?:at|in|on|under|here|there|via|behind)?:?|(?:liegt|liegen|ist|sind|steht|stehen|findet sich|finden sich) (?:unter|auf|in|bei|hier):?|(?:est|sont|se trouvent?) (?:à|sur|dans|ici|sous):?|(?:está|están|se encuentran?) (?:en|aquí):?|(?:лежит|лежат|находится|находятся|есть|—|-) (?:на|по адресу|в|здесь|тут):?|(?:在|位于|见|是)[:：]?|(?:は|が)|(?<=^[^:：]{3,60})[:：])\s*$/iu

export function statesLocation(sentence: string): boolean {
  const addresses = sentence.match(ADDRESS) ?? []
  const [address] = addresses
  if (addresses.length !== 1 || address === undefined || NOT_LASTING.test(address)) return false
  const at = sentence.indexOf(address)
  const [before, after] = [sentence.slice(0, at), sentence.slice(at + address.length)]
  const prose = `${before} ${after}`
  if (prose.length > MAX_CHARACTERS || before.trim().split(/\s+/u).length > MAX_BEFORE) return false
  if (CODE.test(prose) || ASKS.test(prose) || after.trim().split(/\s+/u).length > MAX_BEFORE) return false
  if (FINDS.test(before)) return true
  return IS_AT.test(before) && !MENTIONS.test(before)
}
