/**
 * What a question says about the talk itself and about the answer that it wants: "Can you summarise how … went, in order, throughout our
 * conversations?" No passage is found by these words: they are in what was said about anything.
 */
import { baseForm } from "../../base/search-terms.ts"

/** Only then are the words below about the talk. "session" and "order" name things elsewhere. */
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
/** A summary is made of what was answered as much as of what was asked. */
export const isForSummary = (text: string): boolean => IS_FOR_SUMMARY.test(text)

/** Whether a word of such a question says something about the talk, and nothing about its subject. */
export const isTalkWord = (word: string): boolean => TALK_WORDS.has(baseForm(word))
