/**
 * Phrases of a question about the conversation itself and about the kind of answer: "Can you summarise how … went, in order, throughout
 * our conversations?" These words find no passage, because they occur in texts about anything.
 */
import { baseForm } from "../../base/search-terms.ts"

/**
 * A question about the conversation. Only in these are the words below about the conversation: elsewhere, "session" and "order" name
 * things.
 */
const IS_ABOUT_TALK =
  /\b(?:summar(?:y|i[sz]e)|overview of|recap|walk me through|(?:our|these|past|previous|earlier) (?:conversations?|chats?|sessions?|discussions?|talks?)|in (?:what|which) order|(?:list|name|tell me) (?:in order|the order)|(?:did|have|had)? ?(?:i|we|you) (?:have |had |ever )?(?:mention|discuss|talk|bring up|brought up|bring|describe|say|said|tell|told)(?:ed|d)?)\b/i
const IS_FOR_SUMMARY = /\b(?:summar(?:y|i[sz]e)|overview of|recap|walk me through)\b/i
const TALK_WORDS: ReadonlySet<string> = new Set(
  (
    "summary,summarise,summarize,overview,recap,comprehensive,complete,detail,detailed,clear,brief,thorough,list,order,sequence,chronological,chronologically," +
    "mention,mentioned,mentioning,discuss,discussed,discussing,discussion,discussions,talk,talked,talking,bring,describe,described,say,tell,conversation," +
    "conversations,chat,chats,session,sessions,throughout,across,aspect,aspects,item,items,topic,topics,walk,time,way,along,far,evolve,evolved,progress,progressed," +
    "develop,developed,go,come,give,provide,including,key,main,various,different,previous,earlier,past,ever,many,far"
  ).split(","),
)

export const isAboutTalk = (text: string): boolean => IS_ABOUT_TALK.test(text)
/** Whether a question asks for a summary, which needs the assistant's messages as much as the user's. */
export const isForSummary = (text: string): boolean => IS_FOR_SUMMARY.test(text)

/** Whether a word of such a question concerns the conversation itself, not its subject. */
export const isTalkWord = (word: string): boolean => TALK_WORDS.has(baseForm(word))
