/**
 * Whether a sentence describes the user: the user is its subject, and it states something long-lived about them. What the user is going
 * through, thinks, or knows about the task does not count.
 */
import { lazy, memoize } from "../../base/work.ts"
import { ALL, any, PRODUCT, PRODUCTS, pattern, WAYS } from "./lasting-rules-phrases.ts"
import { splitSentences, typedLines } from "./user-messages.ts"

// Preferences in English: "I prefer tea", "I'd rather walk than drive", "I hate phone calls", "short answers, please". They concern
// things in general, so these have no article, or are compared. A reference to one thing at hand concerns the task: "I prefer the
// second".

/** Excludes "a chart, which I prefer". */
const I = "(?<!\\b(?:which|what|whether|than|if|as|like|where|think|guess|sure) )\\bi"
const OFTEN =
  "(?: (?:generally|usually|always|really|strongly|much|also|still|personally|tend to|typically|normally|do|just|absolutely|particularly))*"
const PREFERENCE = pattern(
  any(
    `${I}${OFTEN} (?:prefer|favou?r|prioriti[sz]e)\\b`,
    `${I}(?:'d| would)${OFTEN} prefer (?:that |if |it if |it when |for )?(?:you|all|every|any|no|answers|your)\\b`,
    `${I} (?:always|usually|generally|normally|typically) (?:choose|pick|go for|take|opt for|buy|book|order)\\b`,
    "(?<!\\b(?:if|whether|how) )\\bmy (?:general |strong |personal )?(?:preference (?:is|would be|for)|(?:preferred|favou?rite|go-to) [\\w ]{2,30} (?:is|are)) (?!not\\b|this\\b|that\\b)(?<!\\b(?:in|of|from|on|about) (?:the|this|that|your) .*)",
  ),
)
/** One of several things at hand. */
const PREFERS_AT_HAND =
  /\b(?:prefer|favou?r|prioriti[sz]e)\s+(?:the|this|that(?! you)|these|those|it\b(?! if| when)|yours|its|option|version|number|plan)\b(?! (?:kind|sort|type|way|use|idea|style)s? of)/iu
const ONE =
  "(?:the|this|that|these|those|it|its|yours?|his|her|their|him|them|both|(?:option|version|number|plan) \\w)\\b"
const NOW = "(?:now|later|again|today|tonight|tomorrow|instead)\\b"
/** A comparison, which may name something at hand. */
const RATHER = pattern(
  `^(?!if\\b).*${I}(?:'d| would)(?: much| really)? rather (?:you\\b|(?!(?:(?!(?:than|for|when|with|in)\\b)[\\w'-]+ ){0,5}?${ONE})(?!.*\\b${NOW})\\w)`,
)
const TASTE = pattern(
  any(
    `^(?:[\\w' ]{2,40}, )?i${OFTEN} (?:(?:(?:don't|do not|dont|never) )?(?:really |much )?(?:like|love|enjoy|adore)|hate|dislike|detest|can't stand|cannot stand)`,
    "^(?:[\\w' ]{2,40}, )?i(?:'m| am) (?:not )?an? (?:big |huge |great )?fan of",
  ) +
    `(?! (?:to|how|when|where|what|if|an?|our|some|all|everything|you|me|us|hearing|being)\\b)(?! (?:\\w+ )?${ONE})(?! \\w+'s\\b)(?!.*\\bthe ones? (?:you|that)\\b) \\w`,
)
const LIKING = pattern(
  "\\bi (?:really |only |always |just |also |much )*(?:like|love|enjoy|hate|dislike|(?:don't|do not|dont) (?:like|want|need)|can't stand|want|need|expect|appreciate|(?:'d|would) like|would love)\\b(?! help\\b)|\\bi'd (?:like|love)\\b",
)
const LIKED = pattern(
  any(
    `\\b(?:your|my) (?:\\w+ )?${PRODUCTS}`,
    `(?<!\\b(?:the|these|those|this|some|an?|two|three|five|to \\w+) (?:\\w+ )?)\\b${WAYS}\\b(?! (?:for|about|on|to|like|of)\\b)`,
    `\\b${ALL} (?:your |my |the |our )?(?:\\w+ )?(?:${PRODUCT}|keywords|names|dates|numbers|prices|figures|units|variables|identifiers|titles|headings|sources|links)\\b`,
    "\\bit when you\\b",
    "\\bfrom you\\b",
  ),
)
const ALWAYS_WANTED =
  /\bi (?:always|usually|generally|normally|typically) (?:want|like|expect|need)(?! to (?:go|do|make|be able))\b|\bi(?:'d| would) (?:always like|like to always|always want|always prefer)\b/iu
const WANTS_TO = /\bi(?:'d| would)? (?:want|need|like|love) to\b/iu

/** "I chose Rust for it, and I prefer it to Go": the pronoun refers to something mentioned before. */
const COMPARISON = pattern(
  `^(?!i${OFTEN} (?:prefer|favou?r)).*\\b(?:prefer|favou?r) (?:it|them|th(?:is|at) \\w+) (?:over|to|rather than)\\b`,
)

export function isPreference(sentence: string): boolean {
  if (PREFERENCE.test(sentence)) return !PREFERS_AT_HAND.test(sentence) || COMPARISON.test(sentence)
  if (ALWAYS_WANTED.test(sentence) || RATHER.test(sentence) || TASTE.test(sentence)) return true
  return sentence.split(/[,;]/u).some((part) => LIKING.test(part) && LIKED.test(part) && !WANTS_TO.test(part))
}

/** The form of answers. */
const FORM = any(
  WAYS,
  ...["sentences", "paragraphs", "words", "bullets", "bullet points", "lists", "units", "spelling", "english", "tone"],
  ...["text", "prose", "markdown", "language", "formatting", "headings", "tables", "diagrams", "emojis"],
)
const PLEASE = "(?:please|pl[sz])"
const FORM_PLEASE = pattern(`^(?:${PLEASE},? )?(?:no )?(?:[\\w-]+ )?${FORM}(?: only)?,? ${PLEASE}\\b`)
/** A request for one of several, or for more. */
const ONE_OR_MORE =
  /^(?:an?|the|this|that|another|more|less|fewer|next|other|some|my|your|its|one|two|three|\d+|now|same|longer|shorter)\b/iu

/** "Short answers, please": has no verb, and concerns the form of all answers. */
export const isFormPlease = (sentence: string): boolean => FORM_PLEASE.test(sentence) && !ONE_OR_MORE.test(sentence)

/** "No pictures please". */
export const NONE_PLEASE = pattern(`^(?:${PLEASE},? no (?:[\\w-]+ ?){1,4}|no (?:[\\w-]+,? ){1,4}${PLEASE})[.!]*$`)

// The statement in a sentence that continues with a question or a task: "I prefer tea, so can you name a shop?". It is part of the
// sentence, verbatim. Doubts stay included: "I prefer tea, but I'm not sure".

const START = "(?:[,;]|\\s[–—-]|(?=\\s(?:so|and|but)\\s))\\s*(?:(?:so|and|but|then|also|hmm)[\\s,]+)*"

/** A question in English, with or without a question mark, which many people omit. */
const ASKS = lazy(
  () =>
    new RegExp(
      `${START}(?:${[
        "(?:can|could|would|will|should|may|do|does|did|is|are|have|has) (?:you|i|we|it|there|that|this|the|they)\\b",
        "(?:how|what|which|why|where|who|when) (?:\\w+ ){0,3}?(?:can|could|do|does|did|should|would|will|is|are|might|has|have|am) (?:i|you|we|it|that|this|there|they|the|my)\\b",
        "(?:how|what)(?:'s| about| if)\\b",
        "(?:any|got any) (?:idea|tip|advice|suggestion)s?\\b",
        "please (?:help|show|give|tell|suggest|explain|write|make)\\b",
      ].join("|")}).*$`,
      "isu",
    ),
)
const ASKS_ANYWHERE = lazy(
  () =>
    new RegExp(
      `${START}(?:(?:how|what|which|why|where|who|any) .*[?]|(?:kannst|könntest|würdest|hast|was|wie|welche[rs]?|wo) .*[?]|(?:peux-tu|pourrais-tu|tu peux|pouvez-vous|pourriez-vous|est-ce que|as-tu|quel\\p{L}*|comment|que) .*[?]|¿.*[?]|(?:можешь|мог бы|не мог бы|подскажи\\p{L}*|как|какие|что) .*[?])\\W*$`,
      "isu",
    ),
)
/** What the user currently does about it. */
const GOES_ON =
  /,\s+(?:(?:and|so|which is why)\s+)?(?:now\s+)?i(?:(?:'m| am| was) (?:\w+ )?\w+ing| want to| wanna| need (?:to|help)|'d like to| would like to| made sure| hope| wonder)\b.*$/isu
/** Introductions with the reason for a statement. A conditional statement does not start like this. */
const LEAD_INS =
  /^(?:(?:i|i'm|i've|we|we're|we've|my|it's|there's)\b.*?(?:(?:,|\s)\s*(?:so|and|but|since|because|given that|considering(?: that)?)\s+|,\s+)|(?:since|because|given that|considering(?: that)?)\s+)(?=i(?:'d|'m| am)? )/isu

/** Removes a request at the end of a sentence. */
export function statedPart(sentence: string): string {
  const typed = sentence.replaceAll("’", "'")
  const end = Math.min(...[ASKS(), ASKS_ANYWHERE()].map((pattern) => pattern.exec(typed)?.index || typed.length))
  return sentence.slice(0, end).trimEnd()
}

/** The clause that matches a pattern, without the text before and after it. Undefined if none does. */
export function clauseWith(stated: string, isMeant: (clause: string) => boolean): string | undefined {
  const typed = stated.replaceAll("’", "'")
  const begins = [0]
  for (let lead = LEAD_INS.exec(typed); lead; lead = LEAD_INS.exec(typed.slice(begins.at(-1)!)))
    begins.push(begins.at(-1)! + lead[0].length)
  for (const begin of begins.reverse()) {
    const rest = typed.slice(begin)
    const end = begin + (GOES_ON.exec(rest)?.index || rest.length)
    if (isMeant(typed.slice(begin, end))) return stated.slice(begin, end).trimEnd()
  }
  return undefined
}

const MAX_SENTENCE = 300 // characters; a longer sentence is a story or pasted text

const REMEMBER =
  "(?:(?:please )?(?:remember|note|keep in mind)(?: that)?:? )?(?:(?:hi|hello|hey|so|well|by the way|btw|fyi)[,!]? )?"
const KIN =
  "(?:wife|husband|partner|spouse|girlfriend|boyfriend|son|daughter|child|kids|children|sons|daughters|mother|father|mum|mom|dad|brother|sister|grandmother|grandfather|dog|cat)"
const COUNT = "(?:an?|one|two|three|four|five|six|seven|several|many|no|\\d+)"

/** What may follow "I am". Nouns have an article, but so do temporary states: "a bit late", "a few steps away", "the one who broke it". */
const STATES_OF_BEING = any(
  "an? (?!bit|little|few|tad|lot|hair|step|touch|couple|fan\\b|huge fan|big fan|hundred|thousand|million|minute|hour|week|day|moment|message|string)[\\p{L}-]+",
  "the (?!one|ones|first|second|third|last|next|only|same|person|opposite|problem|reason|author of this)(?:[\\p{L}-]+ ){1,4}(?:of|at|for|in)\\b",
  "one of (?:two|three|four|\\d+|the (?:founders|owners|maintainers))",
  "(?:now )?(?:a )?(?:vegetarian|vegan|pescatarian|diabetic|coeliac|celiac|dyslexic|autistic|lactose[ -]intolerant|gluten[ -]intolerant|colou?r-?blind|deaf|blind|bilingual|retired|married|divorced|widowed|single|pregnant|gay|lesbian|trans|jewish|muslim|christian|catholic|hindu|buddhist|freelance|self-employed|unemployed|(?:left|right)-handed|allergic to|intolerant to|fluent in|(?:responsible for|in charge of) (?!my\\b|our\\b|their|it|this|that)|new to (?!this|here|it|that))",
  "(?:based|living|born|raised) in (?!the (?:middle|settings))",
  "from (?!(?:the|this|that|here|there|my|your|scratch|an?)\\b)",
  "\\d{1,3}(?= years old|$|[,!]|\\.(?!\\d)| and )",
  "on the [\\p{L}-]+ team\\b",
  "in (?:the )?(?:UTC|GMT|CET|EST|PST|[A-Z]{3} time|\\p{L}+ time ?zone)",
)
const DOING = any(
  "(?:work|worked) (?:at|for|as|in|from)(?! (?:it|this|that|these|those|the (?:same|next|last|first|second))\\b)",
  "work (?:on|with) (?:the |our |an? )?[\\p{L}-]+ (?:team|group|department|patients|children|clients|customers)\\b",
  "live (?:in|at|near|on|with|alone)(?! (?:it|this|that)\\b)",
  "speak (?!to|up|with|about|for|of|at)\\p{L}+",
  "was (?:born|raised) (?:in|on|near)\\b",
  "(?:come|came) from (?!(?:the|this|that|here|my|an?)\\b)",
  "grew up (?:in|on|near|with)",
  "own (?:an? |two |three |\\d+ )",
  "run an? (?:small |little |family |own |one-person |two-person |local )*(?!script|test|command|server|build|query|check|program|container|quick|local)\\p{L}+",
  "(?:teach|study) (?!(?:this|that|it|the)\\b)[\\p{L}-]+",
  `have (?:${COUNT}|my own)(?: (?:small|little|young|old|older|younger|grown|adult|teenage|adopted|rescue))? (?:kids?|child(?:ren)?(?! (?:component|node|element|class|process))|sons?|daughters?|brothers?|sisters?|siblings?|grandchildren|dogs?|cats?|horses?|nut allergy|\\p{L}+ allergy|degree|phd|master's|bachelor's|background in|disability|stammer|hearing aid)`,
  "have (?:asthma|diabetes|adhd|autism|dyslexia|epilepsy|coeliac|celiac|migraines|arthritis|high blood pressure|\\d+ years of experience)",
  "(?:don't|do not|can't|cannot|never) (?:eat (?!breakfast|lunch|dinner)|drink (?!it)|drive\\b(?! (?:there|today|to))|smoke|speak (?!to)\\p{L})",
  "have been (?:an? \\p{L}|(?:\\p{L}+ing) )[^,]* (?:for (?:\\p{L}+|\\d+) years|since \\d{4})",
)
const OWN = any(
  "(?:full |first |last |real )?name(?: is|'s) (?!not|missing|wrong|in|on|too|still|misspelled)",
  "(?:pronouns|native language|mother tongue|first language|time ?zone|birthday|nationality|job title|occupation|profession|title|employer)(?: is|'s| are) (?!not|missing|wrong|down|too|failing)",
  "(?:job|role) is (?:to |an? |in |as )?(?!failing|not|down|stuck|still|done|running)\\p{L}+",
  "(?:team|company|employer) is (?:called |named |an? |in |at |based )",
  "background is (?:in )?",
  `${KIN}(?:'s name)? (?:is|are) (?:called |named |an? (?!bit|little)|\\d+|allergic|vegetarian|vegan|diabetic|deaf|blind|autistic)`,
  `${KIN}(?: and \\p{L}+)? (?:works|live|lives|speaks|was born) `,
)
const SPOKEN = new RegExp(`^${REMEMBER}(?:I (?:am ${STATES_OF_BEING}|${DOING})|my ${OWN})`, "iu")
/** Verbs followed by a capitalised name: with lower-case words they describe a state, or a step of the work. */
const NAME = "\\p{Lu}[\\p{L}+#.'-]*"
const NAMED = new RegExp(
  `^${REMEMBER}(?:[Ii] (?:${[
    `am ${NAME}(?: ${NAME})?(?:,| from | and I |[.!]*$)`,
    `go by ${NAME}`,
    `(?:have )?(?:just |recently )?(?:moved|relocated) to ${NAME}`,
    `(?:have )?(?:just |recently )?(?:joined|left|retired from|started (?:working )?at) ${NAME}`,
    `know (?:${NAME}(?:,? and |, | or )?)+(?: (?:very )?well| a bit)?[.!]*$`,
  ].join("|")})|[Mm]y ${KIN}(?:'s name)? (?:is|are) ${NAME}(?:$|[.,!]| and ))`,
  "u",
)
/** Temporary states. */
const PASSING =
  /\b(?:right now|at the moment|today|tonight|tomorrow|this (?:morning|afternoon|evening|time|step|point)|again|so far|here[.!]*$|it seems|stuck|confused|lost|behind|worried|nervous|late)\b/iu

const ELSEWHERE = new RegExp(
  `^${any(
    "ich (?:bin (?!ein (?:bisschen|wenig))(?:eine? )?(?!mir|nicht|gerade|dabei|gleich|bald|fast|etwas|ein bisschen|ein wenig|so|sehr|zu|hier|da|im|am|in der|auf|bereit|fertig|sicher|froh|müde|verwirrt|verloren|der Meinung|weiter|schon|noch|jetzt|wieder|unsicher|gespannt)\\p{L}{4,}|arbeite (?:bei|als|in|für)|heiße|wohne|lebe in|komme aus|spreche|habe (?:eine?n?|zwei|drei|vier) (?:kind(?:er)?|sohn|söhne|tochter|töchter|hund|katzen?))",
    "mein name ist",
    "je (?:suis (?!en train|d'accord|pas|prête?|un peu|très|trop|bloqué|perdu|sûre?|désolé|en |à |sur |dans |là|content|inquiet|curieu)(?:une? )?\\p{L}{5,}|travaille (?:comme|à|chez|pour|dans)|m'appelle|viens de (?!\\p{Ll}+(?:er|ir|re)\\b)|parle )",
    "j'(?:habite|ai (?:une?|deux|trois|quatre) (?:enfants?|fils|filles?|chiens?|chats?)|ai \\d+ ans)",
    "soy (?!consciente|capaz|yo)(?:una? )?\\p{L}{4,}",
    "me llamo|trabajo (?:en|como|para) |vivo en|tengo (?:una?|dos|tres) (?:hij[oa]s?|perr[oa]|gat[oa])|hablo (?!de|con)",
    "меня зовут|я (?:работаю|живу|родил(?:ся|ась)|вегетариан|веган|говорю по-)|у меня (?:есть )?(?:двое|трое|один|одна)? ?(?:дет|сын|доч)|я (?:\\p{L}+(?:тель|ист|ник|ница|врач|ист|ер|ёр|медик)(?:ка)?|врач|юрист|медсестра|студент(?:ка)?)[.!]*$",
    "我(?:叫|住在|是(?!说|想|不|在|指|否|因为|要|问|从|这|那|第)[一-龥]{1,6}[。.!！]*$|在[一-龥]{2,8}(?:工作|上班)|有[一二两三四]个(?:孩子|儿子|女儿))",
    "私は.*(?:です|働いて)",
    "(?:저는|나는).*(?:입니다|이에요|일해)",
  )}`,
  "iu",
)

const isFact = (clause: string): boolean => {
  const plain = clause
    .replaceAll("’", "'")
    .replace(/\b(I)'m\b/giu, "$1 am")
    .replace(/\b(I)'ve\b/giu, "$1 have")
    .trim()
  if (plain.length > MAX_SENTENCE || isPreference(plain)) return false
  if (ELSEWHERE.test(plain)) return true
  return (SPOKEN.test(plain) || NAMED.test(plain)) && !PASSING.test(plain)
}

const findFact = (sentence: string): string | undefined => clauseWith(statedPart(sentence), isFact)

export const isAboutTheUser = (sentence: string): boolean => findFact(sentence.trim()) !== undefined

/** The sentences that describe the user, verbatim, without the story before them and the question after them. */
export const factsAboutTheUser = memoize((text): readonly string[] =>
  splitSentences(typedLines(text).join("\n")).flatMap((sentence) => findFact(sentence.trim()) ?? []),
)
