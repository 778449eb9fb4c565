/** English phrases for general rules, and for the person who is addressed. */

export const any = (...parts: readonly string[]) => `(?:${parts.join("|")})`
export const pattern = (text: string) => new RegExp(text, "iu")

/** How the agent communicates and works. Plurals go beyond the current task. */
export const WAYS = any(
  ...["answers", "replies", "responses", "explanations", "messages", "suggestions", "recommendations", "introductions"],
  ...["commit messages", "commits", "branch names", "pull requests", "PRs", "code samples", "code comments"],
)
/** What the agent produces. Asking for some of it is a task; "your", "my" or "every" refer to all of it. */
export const PRODUCTS = any(
  WAYS,
  ...["summaries", "branches", "code examples", "examples", "snippets", "comments", "tests", "emails", "texts"],
  ...["documents", "docs", "reports", "translations", "calculations", "recipes", "lists", "tables", "conversations"],
  ...["chats", "drafts", "plans"],
)
export const PRODUCT = any(
  PRODUCTS,
  ...["answer", "reply", "response", "explanation", "message", "summary", "suggestion", "recommendation", "commit"],
  ...["commit message", "branch name", "branch", "pull request", "PR", "code sample", "snippet", "comment", "test"],
  ...["function", "script", "email", "text", "document", "report", "code", "change", "file", "API", "command", "time"],
  ...["description", "plan", "estimate", "dates?", "prices?", "figures?", "numbers", "units", "quantities", "names"],
)
export const ALL = any("every", "each", "all", "any", "every single", "all of", "both")

const LATER = any(
  ...[
    "from now on",
    "from (?:here|this point) on(?: out| in|ward| forward)?",
    "(?:going|moving) forward",
    "henceforth",
  ],
  ...["in (?:the )?future", "as of (?:now|today)", "starting (?:now|today)", "next time", "for (?:all )?future"],
  ...["until (?:further notice|i say otherwise)", "by default", "as a (?:general )?rule", "at all times", "for later"],
  ...[
    "no matter what",
    "under (?:no|any) circumstances",
    "any ?more(?! \\w)",
    "for next time",
    "at any (?:point|time)",
  ],
  ...["ever again", "in general"],
)
export const FROM_NOW = pattern(`\\b${LATER}\\b`)
/** Phrases after which everything is addressed to the agent. */
export const BEGINS_NOW = pattern(
  "^(?:from now on|from (?:here|this point) on(?: out| in|ward)?|(?:going|moving) forward|henceforth|next time|(?:[\\w' ]{0,30}\\b)?for (?:next time|future reference))\\b[,:]? ",
)
export const BEGINS_FROM_NOW = pattern(`^(?:[\\w' ]{0,30}\\b)?${LATER}\\b[,:]? `)

/** Recurring occasions: the user asks, says or shares something, or the agent does something. */
const WHEN = any(
  "(?:when(?:ever)?|if|every time|each time|any ?time|unless|until|even if|once|only when) (?:i|we)(?:'m| am|'re| are)? (?:\\w+ly )?(?:ask|say|tell|mention|paste|share|send|show|request|want|need|write|talk|bring|discuss|give|specify|correct|refer|report|post|upload|describe|have a question|come)(?:ing|s)?\\b(?! my \\w+ for)",
  "(?:when(?:ever)?|every time|each time|any ?time|before|after|if|once|while) you(?:'re| are)? (?:\\w+ly )?(?!are\\b|said|told|gave|were|had|did|got|have|start|begin|done|finish|ready|need|see|get|want|can|could|like|think|know|notice|find|receive)\\w+",
  "(?:when(?:ever)?|before|after|while) (?:review|writ|answer|explain|respond|reply|suggest|recommend|edit|refactor|translat|summari[sz]|commit|push|delet|draft|discuss|compar|format|generat|creat|cod|debugg|list|giv|provid|present|quot|cit|chang|making|doing|claiming)\\w*",
  "(?:after|before|with|on) (?:every|each|any) (?:change|commit|edit|release|push|step|task|deploy\\w*|run|merge|refactor\\w*|fix|answer|reply)",
  "(?:whenever|every time|each time|any ?time)\\b",
  "(?:when(?:ever)? in doubt|where(?:ver)? possible|if (?:you're|you are) (?:not sure|unsure|in doubt|uncertain)|if (?:something|anything) (?:is|isn't|looks|seems))",
  "for (?:anything|everything|all things|questions) (?:related|to do|about|that)",
  "without (?:asking|telling|my (?:permission|approval|consent|ok))",
  "when it comes to",
  "for (?:[\\w-]+ ){1,2}questions",
)
export const GENERAL = pattern(
  `\\b${any(
    LATER,
    WHEN,
    `(?:your|my|our) (?:\\w+ )?${PRODUCTS}`,
    `${ALL} (?:of )?(?:your |my |the |our |future )?(?:[\\w-]+ )?${PRODUCT}`,
    "(?:everything|anything|any \\w+|every \\w+|all \\w+|code|texts?|emails?) (?:that )?you (?:write|give|send|draft|make|suggest|mention|show|produce|generate|propose)",
    `(?<!\\b(?:the|these|those|this|some|two|three|its|their|his|her) (?:\\w+ )?)${WAYS}`,
  )}\\b`,
)
/** Phrases in which "always" and "never" refer to what the agent shall do, not to something else. */
export const HABIT = pattern(
  any(
    "^(?:always|never)\\b",
    "(?:\\byou|\\byou'd|\\bto|\\bshould|\\bmust|\\bplease|\\band|\\bbut|\\bso|\\bwill|\\bthen|[,;:–—-]|'s) (?:please )?(?:always|never|(?:not|n't) ever)\\b",
    "\\b(?:don't|do not) ever\\b",
    "(?:\\b(?:always|every time|each time)|, never)[.!]*$",
    "\\bnever (?:ever|again)\\b",
    "\\bonly ever\\b",
  ),
)

/** References to the current case. */
export const AT_HAND = pattern(
  any(
    "\\b(?:this|that) (?:one|file|version|draft|task|function|class|page|paragraph|text|case|time|query|handler|email|script|question|test|list|section|step|part|module|component|project|report|problem|issue|request|document|sentence|code|error|book)\\b",
    "\\b(?:these|those)\\b",
    "\\b(?:in|for|on|with|of|merge|about) (?:this|that|it)\\b",
    "\\bfor now\\b",
    "\\bright now\\b",
    "\\b(?:here|above|below)[.!]*$",
    "\\b(?:attached|following)\\b",
    "\\bthis (?:week|month|year|morning|afternoon|evening)\\b",
    "\\b(?:today|tonight|tomorrow|before (?:mon|tues|wednes|thurs|fri|satur|sun)day)\\b",
    "\\bthe (?:first|second|third|last|next|other|latter|former|above|original|current|new|old|shorter|longer|blue|red) (?:one|version|option|approach|draft|\\w+ you)\\b",
    "\\boption [a-z\\d]\\b",
  ),
)
export const THIS_ANSWER = pattern(
  "\\b(?:your|the|this) (?:(?:entire|whole|next|previous|last|own|final) )?(?:answer|response|reply|explanation|summary|output|story|essay|poem|work|paper)\\b|\\byour (?:previous|last)\\b",
)
export const POINTING = /\b(?:the|this|that|my|it|its|a|an)\b/iu

export const FILLERS = pattern(
  `^(?:(?:ok(?:ay)?|also|and|but|so|oh|hey|hi|hello|yes|yeah|sure|great|thanks|thank you|btw|by the way|one (?:more|last) thing|just|quick note|note|fyi|important|reminder|actually|additionally|finally|lastly|for the record|once again|again|generally|ideally|overall|if possible|as i said|like i said|i said|pl[sz])\\b[\\s,:;.!–—-]*|(?:no|right|well|good|perfect)[,:;.!–—-]+\\s*)+`,
)
export const POLITE = pattern(
  "^(?:(?:please|pl[sz]|kindly|try to|try and|make sure (?:to|you|that you)|be sure to|make it a habit to|remember to|also|just|simply|only|then|first|(?:whenever|where(?:ver)?) possible)\\b,? ?)+",
)
/** "Can you always …?" asks for something; other questions ask about something. */
export const ASKED_POLITELY = pattern(
  `^(?:${LATER},? )?(?:can|could|would|will) you (?:mind )?(?:(?:please|kindly|maybe|perhaps|also|just|try to|make sure (?:to|you)|make it a habit to),? )*(?=(?:always|never|not ever|stop \\w+ing|keep your)\\b|(?!tell|explain|check|remind|see|find|look|help|describe|review|give me|write|make|suggest|outline).*\\b(?:${LATER}|(?:(?:whenever|every time|each time) (?:i|you)|(?:when|if) i (?:ask|mention|say|paste|share|send|talk|request|write))\\b))`,
)
export const TAG = /,? (?:ok|okay|right|please|alright|got it|deal|yes)[?]\W*$/iu
export const ASKS_AT_THE_END =
  /(?:,|;| [–—-]|\.) (?:so |and |but |then )?(?:(?:can|could|would|will|should|may|do|does|did|is|are|have|has) (?:you|i|we|it|there|that|this|the|they)|how|what|which|why|where|who|any)\b.*[?]\W*$/iu
export const QUESTION = pattern(
  any(
    "[?]\\W*$",
    "^(?:how|why|what|what's|which|who|whose|whom|where)\\b",
    "^(?:should|can|could|may|shall|must) (?:i|we|one|they|he|she|it|the|a|my|people)\\b",
    "^(?:do|does|did) (?:i|you|we|they|he|she|the|people|my)\\b",
    "^(?:is|are|was|were|am|has|had|have) (?:i|you|we|they|he|she|it|the|there|this|that|my|people|one)\\b",
    "^would (?:it|that|you (?:prefer|rather|say|use))\\b",
    "^when (?:should|do|does|did|is|are|can|will|would)\\b",
    "^(?:can|could|would|will) you\\b",
  ),
)
export const REPORTED = pattern(
  any(
    "(?<!\\b(?:i|i've|be|as) )\\b(?:told|tells|said|says|wrote|writes|asked|asks|wants|insists|insisted|recommends|recommended|suggests|suggested|advises|advised|prefers|(?<!my )preferred|warns|warned|states|reads|prints|requires|thinks|thought|believes|claims|agreed|made (?:me|us|them))\\b(?=.)",
    "\\baccording to\\b",
    "\\bkeeps? (?:telling|saying)\\b",
    "\\b(?:they|people|some|experts) (?:say|recommend|prefer|suggest)\\b",
  ),
)
/** The reason for a rule. */
export const REASON = /,? (?:because|since (?!yesterday|then|\d)|otherwise|or else).*$/iu
export const SUPPOSED = pattern(
  "^(?:suppose|imagine|pretend|let's (?:say|assume|suppose|imagine|pretend)|say (?:that |a |the |i |we |you )|what if|maybe|perhaps|hypothetically|in (?:a perfect|an ideal) world|in theory|if (?:i|we|you|they|he|she|it) (?:always|never|were|was|had|could|did|used|would)|assume (?:that )?(?:the|a|we|there)\\b)|\\b(?:i|we) could (?:always|never)\\b|\\bused to\\b",
)
/** What something else always does: "a function that never returns null". */
export const OTHERS_HABIT =
  /\b(?:that|which|who|where|whose|so that|so (?=it|they|he|she|users?|the)|(?:make|making|be|being) sure (?:that )?(?=it|they|the|he|she|my|users?))\b(?! (?:you|i)\b)(?: [\w']+){0,3} (?:always|never|must|should|whenever|every time|only)\b.*/iu
/** Events: what a program shall do when something happens is a task. */
export const EVENT =
  /^(?:when(?:ever)?|if|once|after|before|every time|each time) (?:the|a|an|it|they|he|she|someone|users?|customers?|people)\b[^,]*,/iu

/** Verbs that people use in orders to an assistant. After "always", any base form is accepted. */
const VERB = any(
  ...["use", "avoid", "keep", "answer", "respond", "reply", "write", "speak", "talk", "call", "address", "refer"],
  ...[
    "format",
    "include",
    "cite",
    "give",
    "show",
    "prefer",
    "stick",
    "stop",
    "skip",
    "assume",
    "treat",
    "ask",
    "check",
  ],
  ...["confirm", "run", "double-check", "mention", "limit", "be", "provide", "start", "begin", "end", "finish", "make"],
  ...["put", "name", "list", "suggest", "recommend", "propose", "state", "spell", "link", "note", "remind", "tell"],
  ...[
    "follow",
    "return",
    "present",
    "summari[sz]e",
    "structure",
    "number",
    "wrap",
    "translate",
    "convert",
    "round",
    "go",
  ],
  ...["focus", "consider", "take", "respect", "let", "do", "drop", "remove", "omit", "quote", "highlight", "point"],
  ...["commit", "push", "delete", "touch", "rewrite", "install", "change", "edit", "test", "verify", "review", "sign"],
  ...[
    "say",
    "repeat",
    "read",
    "look",
    "search",
    "save",
    "store",
    "log",
    "update",
    "create",
    "draft",
    "compare",
    "break",
  ],
  ...["choose", "pick", "set", "print", "output", "report", "apologi[sz]e", "guess", "simplify", "shorten", "adapt"],
  ...["offer", "explain", "send", "research", "warn", "leave", "add", "flag", "act", "admit", "prioriti[sz]e", "split"],
)
const NOT = "(?:don't |dont |do not )?(?:ever )?"
export const VERB_FIRST = pattern(`^${NOT}${VERB}\\b`)
export const WORK_FIRST = pattern(
  `^${NOT}(?:${VERB}|fix|implement|build|help|compose|design|find|solve|describe|generate|develop|debug|refactor|calculate|outline|analy[sz]e|plan)\\b`,
)
export const ADVERB_FIRST = /^(?:let's )?(?:please )?(?:always|never)(?:,[^,]*,)? (?:ever |again )?/iu
export const NOT_BASE = pattern(
  `^(?:${[
    ...["mind", "seen", "heard", "had", "been", "got", "gotten", "knew", "known", "thought", "tried", "did", "done"],
    ...[
      "met",
      "saw",
      "went",
      "came",
      "gave",
      "given",
      "took",
      "taken",
      "made",
      "said",
      "told",
      "found",
      "felt",
      "kept",
    ],
    ...["forgot", "forgotten", "understood", "wrote", "written", "happier", "good", "nice", "fun", "great", "sure"],
    ...["too", "so", "a", "an", "the", "in", "on", "at", "there", "my", "is", "are", "has", "was", "were", "quite"],
    ...["really", "before", "used", "left", "happy"],
  ].join(
    "|",
  )})\\b|^(?!need|feed|embed|proceed|exceed|shred|seed|speed)\\w+ed\\b|^(?!bring|string|ping|sing)\\w+ing\\b|^(?!focus|discuss|express|access|address|process|pass|press|cross|guess|assess|stress|dress|canvas|bias|suppress)\\w+s\\b`,
)
export const LEAD = pattern(
  `^(?:${any(LATER, WHEN, "before|after|unless|if|when|whenever|while|for|in|with|on|to|as|even", "since i|because i|given that")})\\b[^,:]*[,:] ?`,
)
export const CLAUSE =
  /(?:,| [–—-]|;|:) (?:so |and |but |then )*|\b(?:and|but|so) (?=please|always|never|don't|do not)/iu
export const SOMEONE_ELSE =
  /^(?:the|a|an|he|she|it|it's|they|this|that|these|those|there|there's|here|my|our|his|her|their|its|people|everyone|everybody|someone|nobody|most|many|some|i|i'm|i've|i'll|i'd|we|we're|we'll|we've|users?|customers?)\b/iu
/** A clause that continues what the user does: "I'll look around, ask my sister and decide". */
export const OWN_PLAN =
  /^i(?:'ll| will|'m \w+ing| am \w+ing|'ve been| was| need| plan| had| have to| want to| wanna| should| can| could| might|'d like to)\b/iu
export const THEN_I = /,? (?:and|so|but) (?:then )?i(?:'ll| will)\b.*/iu
/** A single occasion. */
export const ONCE =
  /\blet (?:me|us) know\b(?!.*\b(?:always|every time|each time|before)\b)|^(?:(?:please|pl[sz]|just|and|so) )*let(?:'s| us)\b(?!.*\b(?:always|never|every time|each time|whenever|before)\b)/iu
export const STATE = /\b(?:will|would|is|are|was|were|has|have|had)\b/iu

export const WISH = pattern(
  "\\bi(?:'d| would)? (?:really |also |just |only |always |still )*(?:want|need|like|love|expect|prefer|appreciate|ask)(?: it)?(?: very much)?(?: if| that| when)? you(?:'d| to| would| could)?\\b|\\b(?:important|great|nice|good|helpful|better|best|easier|happy|glad|grateful)\\b.*\\b(?:if|that|when) you\\b",
)
export const INSTRUCTED = pattern(
  "(?:^|, |; |\\bso |\\band |\\bbut )you (?:should|must|need to|have to|are to|ought to|shall|can|may|don't (?:need|have) to|(?:never|no longer) (?:need|have) to|needn't|shouldn't|mustn't|will)\\b",
)
export const ABOUT_PRODUCTS = pattern(
  `^(?:(?:${ALL}|no) (?:of )?(?:your |my |the |our )?(?:(?!api|http|server|error|users?|customers?|client|rest)[\\w-]+ ){0,2}${PRODUCT}|(?:your|my|our) (?:[\\w-]+ ){0,2}${PRODUCTS}|(?:commit messages|commits|branch names|pull requests|PRs|code comments|code samples))(?: (?:that )?you \\w+)?(?: \\w+)? (?:must|should|shall|need to|needs to|has to|have to|may not|can't|cannot)\\b`,
)
export const REMEMBER = pattern(
  "^(?:please )?(?:remember|keep in mind|bear in mind|don't forget|note|please note)(?: that|:|,)? (?:that )?(?:i|i'm|i've|my|we|we're|our)\\b|^(?:please )?remember(?: that\\b|:| this)|^my (?:\\w+ )?rules? (?:is|are)\\b|^(?:please )?remember to (?:always|never|address|call|use|answer|reply|respond|write|keep|be)\\b",
)
export const NAMING = pattern(
  "^(?:(?:call|address) me (?!back|when|if|on|at|later|a\\b|about|tomorrow|today|in\\b)|refer to (?:me|my [\\w ]+) as|treat me (?:as|like)|speak to me|talk to me (?:like|in|as))",
)
export const LANGUAGE =
  /^(?:answer|respond|reply|speak|talk)(?: to me| me)?(?: only)? in (?:plain |simple |british |american )?(?:english|german|french|spanish|portuguese|italian|dutch|russian|chinese|mandarin|cantonese|japanese|korean|arabic|hindi|polish|turkish|swedish|norwegian|danish|finnish|czech|greek|hebrew|ukrainian|romanian|hungarian|vietnamese|thai|indonesian|urdu|bengali|persian)\b/iu
export const STOPPING =
  /^stop (?:apologi[sz]ing|guessing|repeating yourself|adding comments|\w+ing (?!the|this|that|it\b|my|here|now))/iu
export const FORBIDDING =
  /^(?:don't|dont|do not|never|avoid) (?!worry|forget|mind|know|think|understand|get|see|care|bother|have|feel|want|need|hesitate)(?:\p{L}+)\b/iu
/** Style words, which can only concern how the agent writes. */
export const STYLE =
  /\b(?:emojis?|emoticons|jargon|slang|exclamation marks?|filler|buzzwords|acronyms|em dashes|apologi[sz]e|disclaimers?|preambles?|small talk|flattery|swear words|sugar-?coat|the (?:word|phrase|term|expression)s?)\b/iu
export const CONTRASTING = /^use [^,.]{2,40}(?:,? not |,? never |,? instead of |,? rather than |,? over )/iu
export const PLAIN_USE = /^use [\p{L}\d./+#-]+(?: [\p{L}\d./+#-]+){0,3}[.!]*$/iu
export const NO_MORE = /^(?:no|no more|fewer|less) (?:than )?[\w' -]+/iu
