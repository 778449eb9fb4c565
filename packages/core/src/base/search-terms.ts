/**
 * Turns text into search terms: lower case, without accents, stemmed. Identifiers become terms as a whole and by their parts. Scripts
 * without spaces become pairs of characters.
 */
import { stemmer } from "stemmer"

const MAX_TERM = 64 // characters; longer runs are data, such as base64
const LATIN = /^[a-z]+$/

/** Stop words, which do not describe the subject of a text. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a,about,after,again,all,also,am,an,and,any,are,as,at,be,because,been,before,being,both,but,by,can,could," +
    "did,do,does,doing,don,done,down,during,each,else,ever,few,for,from,further,get,got,had,has,have,having,he," +
    "her,here,hers,him,his,how,i,if,in,into,is,it,its,just,let,like,ll,me,more,most,much,my,no,nor,not,now,of," +
    "off,oh,ok,okay,on,once,only,or,other,our,out,over,own,please,re,really,s,same,she,should,so,some,such,t," +
    "than,that,the,their,them,then,there,these,they,this,those,through,to,too,under,until,up,us,ve,very,was,we," +
    "well,were,what,when,where,which,while,who,whom,why,will,with,would,yeah,yes,you,your"
  ).split(","),
)

/** Irregular forms, listed after their base form. Forms that are words of their own too, such as "left", are not included. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  (
    "become:became begin:began begun bite:bit bitten break:broke broken bring:brought build:built buy:bought catch:caught choose:chose chosen " +
    "come:came deal:dealt dig:dug draw:drew drawn drink:drank drunk drive:drove driven eat:ate eaten fall:fallen feed:fed feel:felt " +
    "fight:fought find:found fly:flew flown forget:forgot forgotten forgive:forgave forgiven freeze:froze frozen give:gave given go:went gone " +
    "grow:grew grown hang:hung hear:heard hide:hid hidden hold:held keep:kept know:knew known lead:led lend:lent lose:lost make:made " +
    "mean:meant meet:met pay:paid ride:rode ridden ring:rang rung run:ran say:said see:saw seen sell:sold send:sent shake:shook shaken shoot:shot " +
    "shrink:shrank sing:sang sung sink:sank sunk sit:sat sleep:slept speak:spoke spoken spend:spent steal:stole stolen stick:stuck " +
    "swear:swore sworn sweep:swept swim:swam swum swing:swung take:took taken teach:taught tear:tore torn think:thought throw:threw thrown " +
    "understand:understood wake:woke woken wear:wore worn win:won write:wrote written " +
    "child:children foot:feet goose:geese knife:knives leaf:leaves life:lives man:men mouse:mice shelf:shelves tooth:teeth wife:wives wolf:wolves woman:women"
  )
    .split(/ (?=\S+:)/)
    .flatMap((row) => {
      const [word, ...forms] = row.split(/[: ]/)
      return forms.map((form) => [form, word!] as const)
    }),
)

/** The base form of an irregular form: "bought" gives "buy". Other words are returned unchanged. */
export const baseForm = (word: string): string => IRREGULAR.get(word) ?? word

export interface Term {
  /** The normalized form that is compared. */
  readonly stem: string
  /** The original word in lower case. */
  readonly word: string
}

/** The terms of a text in order, with repetitions and without stop words. */
export function searchTerms(text: string): readonly Term[] {
  const terms: Term[] = []
  for (const [run] of text.normalize("NFKC").matchAll(/[\p{L}\p{N}\p{M}_'’]+/gu)) {
    if (run.length > MAX_TERM) continue
    for (const word of splitIdentifier(run)) {
      if (!STOP_WORDS.has(word)) terms.push({ stem: stem(word), word })
    }
  }
  return terms
}

/** An identifier's parts come first, then the complete identifier: `parseConfigFile` gives parse, config, file, parseconfigfile. */
function splitIdentifier(run: string): readonly string[] {
  const bare = run.replace(/['’](?:s|t|re|ve|ll|d|m)?(?=$|_)/giu, "").replace(/['’]/gu, "")
  const parts = bare
    .split(/_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u)
    .filter((part) => part !== "")
    .flatMap((part) => pairsIn(foldCase(part)))
  if (parts.length <= 1) return parts
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(bare)
    ? parts
    : [...parts, foldCase(bare.replaceAll("_", ""))]
}

const foldCase = (text: string) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC")

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu

/** Text in a script without spaces cannot be split into words, so every pair of neighboring characters becomes a term. */
function pairsIn(word: string): readonly string[] {
  const runs = word.match(UNSPACED)
  if (!runs) return [word]
  const pairs = runs.flatMap((run) => {
    const characters = [...run]
    return characters.length === 1 ? characters : characters.slice(1).map((next, i) => characters[i]! + next)
  })
  return [...pairs, ...word.split(UNSPACED).filter((rest) => rest !== "")]
}

/** The stemmer turns "deploy" into "deploi" but "deployment" into "deploy". Replacing a final "i" makes them equal. */
const stem = (word: string) => (LATIN.test(word) ? stemmer(baseForm(word)).replace(/i$/, "y") : word)
