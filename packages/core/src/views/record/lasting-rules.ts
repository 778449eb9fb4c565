/**
 * Finds lasting rules in what a user typed: sentences addressed to the agent about how to work from now on, including later
 * conversations. The form of a sentence decides, not a single word. Questions, wishes about the current task, quotations, statements of
 * others, past and hypothetical statements do not count.
 */
import { lazy, memoize } from "../../base/work.ts"
import { clauseWith, isFormPlease, isPreference, NONE_PLEASE, statedPart } from "./about-the-user.ts"
import * as phrases from "./lasting-rules-phrases.ts"
import { splitSentences, typedLines } from "./user-messages.ts"

// Lasting rules in other languages. Each row contains how a language expresses what always holds, how it refers to someone else, and how it
// expresses what the user wants. A row is data; the order of the checks is the same for all.

interface LanguageForms {
  /** Says that something holds repeatedly, or from now on. */
  readonly general: RegExp
  /** A clause before the main one: "when I ask about dates, …". */
  readonly lead?: RegExp
  /** A relative clause, which describes something else. It is removed. */
  readonly relative?: RegExp
  /** The main clause is about someone or something else, or about another time. */
  readonly others: RegExp
  /** The main clause is a request. Default: everything that is not about others. */
  readonly request?: RegExp
  /** "You should", "I want you to". Only together with `general`. */
  readonly instructed?: RegExp
  /** "I prefer", "remember that". Sufficient by itself. */
  readonly wanted: RegExp
  /** A question, a report, a hypothesis, the past, or this one case. */
  readonly not: RegExp
  /** "Could you always …?" */
  readonly asked?: RegExp
}

const latin = lazy((): readonly LanguageForms[] => [
  {
    general:
      /(?<!\p{L})(?:immer|nie|niemals|stets|ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|in zukunft|(?:zu)?künftig|jedes mal|(?:bei|vor|nach|in|zu|für) jede[rmns]?|grundsätzlich|standardmäßig|generell|(?:nicht|keine?n?) (?:.* )?mehr|auf keinen fall|nächstes mal)(?!\p{L})/iu,
    lead: /^(?:(?:immer |jedes mal,? |und )?wenn (?:ich|du)\b[^,]*,|bevor du [^,]*,|sobald (?:ich|du) [^,]*,|falls ich [^,]*,)\s*/iu,
    relative: /,? (?:die|der|das|welche[rs]?|den|dem|damit|sodass|weil) (?:.* )?(?:nie|niemals|immer|stets) .*/iu,
    others:
      /^(?:ich|wir|er|sie|es|man|das|der|die|den|dem|ein|eine|einen|mein|meine|unser|unsere|dieser?|dieses|viele|manche|leute|früher|gestern|damals|auf|im|in der|laut|hier|seine?|ihre?|kein mensch|niemand)(?!\p{L})|^(?:immer (?:noch|wieder)|(?:immer|nie|niemals|stets) (?:habe?|war|hatte|ist))(?!\p{L})/iu,
    instructed:
      /(?<!\p{L})(?:du (?:sollst|solltest|musst|darfst|kannst|brauchst)|(?:möchte|will|wünsche mir|hätte gern|wäre schön|wichtig),? (?:dass|wenn) du|schreibst du|machst du|gibst du|antwortest du|nimmst du|verwendest du|nutzt du|ich (?:möchte|hätte gern|will) (?:immer|nie))(?!\p{L})/iu,
    wanted:
      /(?<!\p{L})(?:ich (?:bevorzuge|ziehe .* vor|mag .* lieber|habe lieber|hätte lieber)|mir (?:ist|sind|wären?) (?:.* )?lieber|ich (?:will|möchte) (?:nie|keine?n?) .*(?:mehr|deinen)|ich \p{L}+ (?:\p{L}+ )?lieber|am liebsten \p{L}+e ich|ich mag (?:keine?n?|nicht gern)|^(?:bitte )?(?:keine?|ohne|kurze|lange|einfache|knappe) [\p{L}-]+,? bitte|merk(?:e)? dir|denk(?:e)? (?:immer )?daran, dass|behalte? im kopf)(?!\p{L})/iu,
    not: /[?]\W*$|^(?:warum|wieso|wie|was|wer|wo|wann|welche|soll|sollte|muss|darf|kann|ist|sind|hat|gibt es)(?!\p{L})|(?<!\p{L})(?:sagt|sagte|meint|meinte|steht|schreibt|empfiehlt|laut|angenommen|würde|wäre es|wollte|früher|die erste|die zweite|diese[rmns]? (?:datei|fall|text|version|funktion|aufgabe)|diesmal|für jetzt)(?!\p{L})/iu,
    asked: /^(?:kannst|könntest|würdest) du (?:bitte )?(?:immer|nie|ab jetzt|in zukunft|künftig|jedes mal)(?!\p{L})/iu,
  },
  {
    general:
      /(?<!\p{L})(?:toujours|jamais|désormais|dorénavant|à partir (?:de maintenant|d'aujourd'hui)|à l'avenir|(?:à|pour|dans|avec|après|avant) chaque|chaque fois|dès maintenant|systématiquement|par défaut|plus jamais|en toutes circonstances|la prochaine fois|toutes (?:tes|vos) réponses)(?!\p{L})/iu,
    lead: /^(?:(?:quand|lorsque|si|chaque fois que|à chaque fois que|dès que|avant que) (?:je|j'|tu|on)[^,]*,|(?:désormais|dorénavant|à l'avenir|par défaut|à partir [^,]{5,20}),)\s*/iu,
    relative: / (?:qui|dont|où) .*/iu,
    others:
      /^(?:je|j'|tu|il|elle|on|nous|ils|elles|le|la|les|l'|un|une|mon|ma|mes|notre|ce|cet|cette|ces|ça|c'|avant|hier|selon|personne|certains|vous n'|vous avez)(?!\p{L})|^(?:le|la|l'|c'|j')/iu,
    instructed:
      /(?<!\p{L})(?:(?:tu|vous) (?:ne )?(?:dois|devez|devrais|devriez|peux|pouvez)|(?:je veux|je voudrais|j'aimerais|je souhaite|il faut|ce serait bien|j'ai besoin) que (?:tu|vous)|merci de)(?!\p{L})/iu,
    wanted:
      /(?<!\p{L})(?:je préf(?:ère|érerais)|j'aime mieux|j'aimerais mieux|ma préférence|je ne veux (?:plus|pas|jamais) .*(?:tes|vos) \p{L}+|je n'aime pas (?:les|trop les)|^(?:pas d[e']|sans) ?[\p{L}-]+,? s'il (?:te|vous) pla[iî]t|^(?:des )?(?:réponses|phrases|explications|listes|mots) \p{L}+,? s'il (?:te|vous) pla[iî]t|retiens|retenez|souviens-toi que|n'oublie pas que (?:je|j'))(?!\p{L})/iu,
    not: /[?]\W*$|^(?:pourquoi|comment|est-ce|dois-je|peut-on|où|qui|que faire|quel)(?!\p{L})|(?<!\p{L})(?:dit|disait|conseille|recommande|écrit (?:«|…|que)|selon|supposons|imagine|si je (?:faisais|n'|avais)|si on|autrefois|avant, on|la première|la deuxième|cette fois|ce fichier|cette version|pour l'instant)(?!\p{L})/iu,
    asked:
      /^(?:peux-tu|pourrais-tu|tu peux|tu pourrais|pouvez-vous|pourriez-vous) (?:s'il te plaît )?(?:(?!vérifier|dire|expliquer|voir)\p{L}+ )?(?:toujours|ne jamais|désormais|à l'avenir)(?!\p{L})/iu,
  },
  {
    general:
      /(?<!\p{L})(?:siempre|nunca|jamás|(?:de|desde) ahora en adelante|a partir de (?:ahora|hoy|este momento)|desde ahora|en (?:el futuro|adelante|lo sucesivo)|cada vez|(?:en|con|para|tras|antes de) cada|por defecto|en todo momento|la próxima vez|todas tus respuestas|nunca más)(?!\p{L})/iu,
    lead: /^(?:(?:cuando|si|siempre que|cada vez que) (?:yo |te |me |tú )?\p{L}+[^,]*,|(?:de ahora en adelante|a partir de [^,]{3,12}|en el futuro|por defecto|por favor|en adelante),)\s*/iu,
    relative:
      /(?<!(?:quiero|gustaría|gusta más|prefiero|pido|necesito|siempre|vez|importante|recuerda|mejor)) que (?:.* )?(?:nunca|siempre|jamás) .*/iu,
    others:
      /^(?:yo|eu|él|ella|ele|ela|el|la|los|las|o|os|um|uma|meu|minha|un|una|mi|mis|nuestro|su|sus|este|esta|esto|eso|ese|esa|nosotros|ellos|antes|ayer|según|estoy|nadie|todos|algunos|no \p{L}+o)(?!\p{L})|^(?:siempre|nunca|jamás) (?:lo |la |me |nos |se |he |había |es |era |está |fue |hay |falla|funciona|pasa|\p{L}+(?:[éí]|aba|ía|imos|amos|aron|ieron|ise|ice|uve|ado|ido)(?!\p{L}))/iu,
    instructed:
      /(?<!\p{L})(?:(?:debes|deberías|tienes que|puedes|hay que)|(?:quiero|me gustaría|necesito|te pido|es importante|sería mejor) que)(?!\p{L})/iu,
    wanted:
      /(?<!\p{L})(?:prefiero|preferiría|me gustan? más|no me gustan?(?! (?:el|la|lo|est[aeo]|es[aeo]|c[oó]mo|que) )|^sin \p{L}+,? por favor|^(?:respuestas|frases|explicaciones|listas|palabras) \p{L}+,? por favor|mi preferencia|no quiero .*(?:tus|más)|recuerda que|ten en cuenta que (?:yo|soy|no)|acuérdate de que)(?!\p{L})/iu,
    not: /[?¿]|^(?:por qué|cómo|qué|quién|dónde|cuál|debo|debería(?!s)|puedo|hay alguna)(?!\p{L})|(?<!\p{L})(?:dice|dijo|dicen|pone|recomienda|según|supongamos|imagina|si siempre|si nunca|hiciera|fuera|tuviera|antes nunca|quise|la primera|la segunda|esta vez|este archivo|esta versión|por ahora|no debe (?:estar|ser)|nunca debe|quiero (?:crear|hacer|escribir|construir))(?!\p{L})/iu,
    asked:
      /^¿?(?:puedes|podrías) (?:por favor )?(?:(?!comprobar|decir|explicar|ver)\p{L}+ )?(?:siempre|a partir de ahora)(?!\p{L})/iu,
  },
  {
    general:
      /(?<!\p{L})(?:sempre|nunca|jamais|de agora em diante|a partir de agora|no futuro|(?:cada|toda) vez|por padrão)(?!\p{L})/iu,
    lead: /^(?:(?:quando|se|sempre que|toda vez que) (?:eu|te|me)?\s?\p{L}+[^,]*,|(?:de agora em diante|a partir de agora|no futuro|por favor),)\s*/iu,
    relative: / que (?:.* )?(?:nunca|sempre|jamais) .*/iu,
    others:
      /^(?:eu|ele|ela|o|a|os|as|um|uma|meu|minha|nosso|este|esta|isso|isto|nós|eles|antes|ontem|segundo)(?!\p{L})|^(?:sempre|nunca) (?:é |foi |quis|falha|funciona|tive|\p{L}+(?:ei|amos|emos|ava|ia|ou)(?!\p{L}))/iu,
    instructed: /(?<!\p{L})(?:você (?:deve|precisa|tem que)|(?:quero|gostaria|preciso) que você)(?!\p{L})/iu,
    wanted: /(?<!\p{L})(?:eu )?(?:prefiro|preferiria|gosto mais|lembre-se de que|lembre que)(?!\p{L})/iu,
    not: /[?]|(?<!\p{L})(?:por que|disse|diz|segundo|imagine que|suponha|por enquanto|este arquivo|desta vez)(?!\p{L})/iu,
  },
  {
    general:
      /(?<!\p{L})(?:sempre|mai|d'ora in (?:poi|avanti)|da (?:ora|adesso|oggi) in poi|in futuro|ogni volta|(?:in|per|a|dopo) ogni|di default)(?!\p{L})/iu,
    lead: /^(?:(?:quando|se|ogni volta che) (?:io |ti |mi )?\p{L}+[^,]*,|(?:d'ora in poi|in futuro|per favore|da ora in poi),)\s*/iu,
    relative: / che (?:.* )?(?:mai|sempre) .*/iu,
    others:
      /^(?:io|lui|lei|il|lo|la|i|gli|le|l'|un|una|mio|mia|questo|questa|noi|loro|ieri|secondo|ho|non ho|abbiamo)(?!\p{L})|^(?:sempre|mai) (?:stato|visto)(?!\p{L})/iu,
    instructed: /(?<!\p{L})(?:(?:devi|dovresti)|(?:voglio|vorrei) che tu)(?!\p{L})/iu,
    wanted: /(?<!\p{L})(?:preferisco|preferirei|mi piacciono di più|ricorda che|ricordati che)(?!\p{L})/iu,
    not: /[?]|(?<!\p{L})(?:perché non|ha detto|dice|secondo|immagina|supponiamo|per ora|questa volta|questo file)(?!\p{L})/iu,
  },
  {
    general:
      /(?<!\p{L})(?:altijd|nooit|vanaf nu|voortaan|in de toekomst|elke keer|(?:bij|voor|na) elke|standaard)(?!\p{L})/iu,
    lead: /^(?:(?:als|wanneer|elke keer als) (?:ik|je)\b[^,]*,|(?:vanaf nu|voortaan|in de toekomst|alsjeblieft),)\s*/iu,
    relative: / (?:die|dat) (?:.* )?(?:nooit|altijd) .*/iu,
    others: /^(?:ik|wij|we|hij|zij|ze|het|de|een|mijn|onze|deze|dit|dat|men|vroeger|gisteren|volgens)(?!\p{L})/iu,
    instructed: /(?<!\p{L})(?:je (?:moet|mag|hoeft)|(?:wil|zou graag willen) dat je)(?!\p{L})/iu,
    wanted: /(?<!\p{L})(?:ik (?:heb|zie) .*liever|ik geef de voorkeur|onthoud dat)(?!\p{L})/iu,
    not: /[?]|(?<!\p{L})(?:waarom|zegt|zei|volgens|stel dat|deze keer|dit bestand|voorlopig)(?!\p{L})/iu,
  },
])

const otherScripts = lazy((): readonly LanguageForms[] => [
  {
    general:
      /всегда|никогда|отныне|впредь|с этого (?:момента|дня)|с сегодняшнего дня|в дальнейшем|в будущем|каждый раз|(?:после|перед|при|для|в) кажд(?:ого|ым|ом|ой)|по умолчанию|больше не|ни в коем случае/iu,
    lead: /^(?:(?:когда|если|каждый раз, когда|прежде чем|перед тем как) (?:я|ты) [^,]*,|(?:пожалуйста|отныне|впредь|с этого момента|в будущем|в дальнейшем),?)\s*/iu,
    relative: /,? котор(?:ая|ый|ое|ые|ую|ого) .*/iu,
    others:
      /^(?:я|мы|он|она|оно|они|это|этот|эта|мой|моя|наш|наша|раньше|вчера|коллега|люди|многие)(?!\p{L})|(?:всегда|никогда|больше|каждый раз) (?:не |так |этого не |этим не )?\p{L}+(?:ет|ит|ёт|ют|ят|ут|ат|тся|л|ла|ло|ли|лся|лась)(?!\p{L})/iu,
    instructed: /(?:чтобы ты|чтобы вы|ты долж(?:ен|на)|вы должны|тебе (?:нужно|надо|следует)|тебе нельзя)/iu,
    wanted:
      /предпочитаю|предпоч[её]л(?:а)? бы|я (?:очень )?не люблю (?!эт|когда)|^без \p{L}+,? пожалуйста|^\p{L}+(?:ие|ые) (?:ответы|фразы|предложения|слова|списки),? пожалуйста|мне больше нрав(?:ит|ят)ся|мне удобнее|запомни|имей в виду/iu,
    not: /[?]\W*$|^(?:почему|как|что|кто|где|зачем|какой|стоит ли|нужно ли)(?!\p{L})|(?:всегда ли|сказал|говорит|говорят|пишут|написано|советует|если бы|допустим|представь|раньше|пытаюсь|хочу (?!,? ?чтобы)|в этом файле|на этот раз|пока что|первый вариант|второй вариант)/iu,
    asked: /^(?:можешь|мог бы|не мог бы) ты (?:пожалуйста )?(?:всегда|впредь|каждый раз)/iu,
  },
  {
    general:
      /总是|總是|始终|始終|永远|永遠|一直|每次|每当|每當|从(?:现在|今天|今|明天)(?:起|开始|以后)|從(?:現在|今天)(?:起|開始)|以后|以後|今后|今後|往后|绝不|絕不|绝对不|从不|务必|務必|必须|必須|一律|不要再|别再|默认|以后都/u,
    lead: /^(?:当我[^,,]*[,,]|每当我[^,,]*[,,]|如果我(?:问|要|说|贴|发|让)[^,,]*[,,]|没有[^,,]*[,,]|在?(?:回答|写代码|修改)[^,,]{0,8}时[,,]?)\s*/u,
    relative: /(?:从不|永远(?!不要|都要)|总是|绝不(?!要)|始终|一直)[^,,。]*?的\p{Script=Han}/u,
    others:
      /^(?:我(?!希望你|要你|想让你|要求你|想要你)|我们|他|她|它|他们|这|那|此|以前|之前|昨天|大家|人们)|^(?!请|你|回答|回复|写|代码|所有|提交|输出|价格|注释|在|对|把|用|没有|当|每|从|以|今|往)[\p{Script=Han}\p{L}]{2,8}(?:总是|一直|从不|永远|必须|始终)/u,
    instructed: /我(?:希望|要|想让|要求|想要)你|你(?:必须|应该|要|得)/u,
    wanted:
      /我(?:更|比较|还是|一般|不|不太|很|最|讨厌)?(?:喜欢|讨厌|偏好|倾向|偏爱|习惯)|^请?(?:不要|别)(?:用|使用)(?!这|那|第)|^请?(?:用)?(?:简短|简洁|简单)(?:地)?回答|请?记住|记得我/u,
    not: /[?？吗呢]\W*$|为什么|怎样|怎么|如何|是不是|说|写着|写道|建议我|如果我(?:总是|一直|从不)|假设|假如|正在|尝试|我想(?!让你|要你)|这次|这个文件|这一次|暂时|第一个|第二个|这个字段/u,
  },
  {
    general:
      /いつも|常に|必ず|今後|これから|以後|以降|毎回|決して|絶対に?|一切|たびに|度に|(?:聞いた|尋ねた|頼んだ|言った|貼った|質問した|お願いした)(?:とき|時|場合|ら)|貼ったら|聞いたら|頼んだら/u,
    relative:
      /(?:決して|常に|必ず|いつも|絶対に?)[^、。]*(?:ない|[うくぐすつぬぶむる])(?:関数|アプリ|クラス|スクリプト|プログラム|コード|方法|ボタン|ページ|ツール)を?/u,
    others: /^(?:私は|僕は|俺は|彼|彼女|以前|昔|昨日|上司|同僚|先生|この|その|あの)/u,
    request:
      /(?:て|で)(?:ください|下さい|くれ|ほしい(?:です)?|欲しい(?:です)?|もらえ(?:る|ます)と[^。]*|いただけ[^。]*)?(?:ね|よ)?[。.!！]*$|(?:をください|を下さい|こと|ように|ようにしてください|お願いします|お願い|ましょう|しろ|するな)[。.!！]*$|(?:ください|ないで)、[^。]*[。.!！]*$/u,
    wanted:
      /(?:ほう|方)が(?:好き|好み|いい|良い|よい|うれしい|ありがたい|助か)|を好みます|が好みです|好みです|覚えておいて|忘れないで/u,
    not: /[?？]\W*$|ですか|ますか|なぜ|どうすれば|どうやって|と(?:言|書|いう|述べ)|でしょう|ました[。.!！]*$|ていた|最初の(?:案|ほう)|二番目|今回|このファイル|とりあえず/u,
  },
  {
    general:
      /항상|언제나|늘|절대로?|반드시|앞으로|매번|이제부터|지금부터|때마다|물어보면|물으면|부탁하면|요청하면|기본적으로|다음부터/u,
    relative:
      /(?:절대로?|항상|언제나|늘|반드시)\s+(?:\S+\s+){0,4}?\S*(?:는|은|던)\s+(?:함수|앱|클래스|스크립트|프로그램|코드|버튼|페이지|방법)\S*/u,
    others: /^(?:저는|나는|난|우리는|그는|그녀는|이 |그 |저 |예전|옛날|어제|상사|동료|사람들)/u,
    request:
      /(?:줘|줘요|주세요|주십시오|세요|십시오|지 ?마|마요|말아|말아요|마라|해라|해|하자|할 것|하기|좋겠어|좋겠어요|좋겠습니다|바라|바라요|바랍니다)[.!]*$/u,
    wanted: /선호|(?:이|가|게|것이|편이) 더? ?(?:좋아|좋습|낫)|더 좋아|기억해|잊지 마/u,
    not: /[?？]\W*$|나요|까요|습니까|은가요|왜 |어떻게|라고|다고|말래|했다면|었어요[.!]*$|었어[.!]*$|고 싶|려고|이번|이 파일|우선은|일단/u,
  },
  {
    general:
      /دائما|دائمًا|دائماً|أبدا|أبدًا|أبداً|من (?:الآن|اليوم)|في المستقبل|(?:في )?كل مرة|كلما|(?:بعد|قبل|مع|في) كل|افتراضي|مستقبلا/u,
    lead: /^(?:(?:عندما|إذا|كلما|في كل مرة) [^،,]*[،,]|(?:من الآن فصاعد\S*|من اليوم فصاعد\S*|في المستقبل)[،,]?)\s*/u,
    relative: /(?:دالة|تطبيق|برنامج|سكربت|كود|صفحة|زر)\S* لا .*/u,
    others:
      /^(?:ال\S+|أنا|كنت|كنا|كان|هو|هي|هم|هذا|هذه|ذلك|نحن|سابق\S*|أمس|لم|أحاول|يجب أن أ\S*|علي أن|مدير\S*|زميل\S*|لا \S+ أنا)(?:\s|$)/u,
    instructed: /أريدك|أريد منك|أريد أن ت|أود أن ت|يجب (?:عليك|أن ت)|عليك أن|من المهم أن ت/u,
    wanted: /أفضّل|^أفضل |أحب أكثر|تذكر أن|تذكّر أن|لا تنس أن/u,
    not: /[?؟]\W*$|^(?:لماذا|كيف|هل|متى|ما |من )(?!الآن|اليوم)|(?:^|\s)(?:قال|يقول|قالت|تقول|مكتوب|لو |سابق\S*|هذه المرة|هذا الملف|هذا الحقل|أحاول|أريد بناء|أريد إنشاء)/u,
  },
  {
    general: /हमेशा|कभी (?:भी )?(?:नहीं|मत|न)|अब से|आगे से|हर बार|भविष्य में/u,
    others: /^(?:मैं|मैंने|हम|वह|यह|वे|ये|मेरा|मेरे|मेरी|पहले|कल)(?:\s|$)/u,
    request: /(?:करो|करें|कीजिए|दो|दें|दीजिए|रखो|रखें|लिखो|लिखें|बताओ|बताएं|मत \S+|ना|करना|देना)[।.!]*$/u,
    wanted: /पसंद (?:है|करता|करती)|याद रख/u,
    not: /[?？]\W*$|क्यों|कैसे|क्या |कहा|कहता|था[।.!]*$|थे[।.!]*$|इस बार|इस फ़ाइल/u,
  },
])

const FILLERS =
  /^(?:(?:bitte|also|und|ok(?:ay)?|übrigens|außerdem|s'il te plaît|s'il vous plaît|et|au fait|por favor|y|además|por cierto|e|per favore|inoltre|alsjeblieft|en|пожалуйста|и|а|кстати|请|請|另外|还有|対して|また|それと|그리고|참고로|من فضلك|رجاءً|و)(?![\p{L}])[,،:]?\s*|[-–—]\s*|请|請)+/iu

export function isRuleElsewhere(sentence: string): boolean {
  const forms =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}]/u.test(
      sentence,
    )
      ? otherScripts()
      : latin()
  // related languages share words: the first row that knows them decides
  const known = forms.find(({ general, wanted }) => general.test(sentence) || wanted.test(sentence))
  return known !== undefined && fits(sentence, known)
}

function fits(sentence: string, forms: LanguageForms): boolean {
  const { general, lead, relative, others, request, instructed, wanted, not, asked } = forms
  if (asked?.test(sentence)) return true
  if (not.test(sentence)) return false
  if (wanted.test(sentence)) return true
  const own = relative ? sentence.replace(relative, "") : sentence
  if (!general.test(own)) return false
  if (instructed?.test(own)) return true
  const main = own
    .replace(FILLERS, "")
    .replace(lead ?? /^$/, "")
    .replace(FILLERS, "")
  if (others.test(main)) return false
  return request ? request.test(own) : true
}

// Lasting rules in English. A sentence is one if it is addressed to the agent (an imperative, "you should", "I want you to", a polite
// question, a preference) and holds in general: by an adverb, a condition such as "when I ask", or because it concerns all answers.
// References to the current task exclude it.

/** `alone`: a rule if nothing else in the message asks for work that it could refer to. */
export type RuleLikeness = "rule" | "alone" | "none"

export function englishRule(given: string): RuleLikeness {
  const sentence = withoutFillers(given).replace(phrases.REASON, "")
  if (isOthersWord(sentence) || phrases.SUPPOSED.test(sentence)) return "none"
  const asked = phrases.ASKED_POLITELY.exec(sentence)?.[0]
  const stated = asked === undefined ? withoutQuestion(sentence) : sentence.slice(asked.length).replace(/[?]\W*$/, "")
  if (stated === undefined) return "none"
  const own = stated.replace(phrases.OTHERS_HABIT, "")
  if (phrases.AT_HAND.test(own) && !phrases.FROM_NOW.test(own)) return "none"
  if (asked !== undefined || isRule(own)) return "rule"
  return isForm(own) ? "alone" : "none"
}

/** Whether a sentence asks for work or for an answer. */
export function isEnglishRequest(given: string): boolean {
  const sentence = withoutFillers(given)
  return phrases.QUESTION.test(sentence) || phrases.WORK_FIRST.test(sentence.replace(phrases.POLITE, ""))
}

/** A sentence that starts with "always" is not a statement of someone else, even if it names someone later. */
const isOthersWord = (sentence: string) =>
  phrases.REPORTED.test(sentence) && !phrases.ADVERB_FIRST.test(sentence.replace(phrases.POLITE, ""))

const withoutFillers = (sentence: string) => sentence.replace(phrases.FILLERS, "")

/** Removes a question: "I prefer short answers, so can you …?" starts with a statement. Undefined if nothing else remains. */
function withoutQuestion(sentence: string): string | undefined {
  const stated = sentence.replace(phrases.TAG, "").replace(phrases.ASKS_AT_THE_END, "")
  return phrases.QUESTION.test(stated) ? undefined : stated
}

function isRule(sentence: string): boolean {
  if (phrases.REMEMBER.test(sentence) || isPreference(sentence) || isFormPlease(sentence)) return true
  if (phrases.EVENT.test(sentence) && !phrases.FROM_NOW.test(sentence)) return false
  const isHabit = phrases.HABIT.test(sentence)
  const isGeneral = isHabit || phrases.GENERAL.test(sentence)
  if ((phrases.WISH.test(sentence) || phrases.INSTRUCTED.test(sentence)) && isGeneral && !isThisAnswer(sentence))
    return true
  if (phrases.ABOUT_PRODUCTS.test(sentence)) return true
  if (isFromNow(sentence)) return true
  if (phrases.ONCE.test(sentence) && !phrases.FROM_NOW.test(sentence)) return false
  const [first, ...others] = clausesOf(sentence)
  if (isImperative(first!, isHabit || phrases.GENERAL.test(sentence.replace(phrases.THEN_I, "")))) return true
  return !phrases.OWN_PLAN.test(first!) && others.some((clause) => isImperative(clause, phrases.GENERAL.test(clause)))
}

/** "From now on English please": everything after it is a rule, unless it is a prediction. */
function isFromNow(sentence: string): boolean {
  const begun = phrases.BEGINS_NOW.exec(sentence)?.[0]
  if (begun === undefined) return false
  const rest = withoutFillers(sentence.slice(begun.length))
  return rest !== "" && !phrases.SOMEONE_ELSE.test(rest) && !phrases.STATE.test(rest)
}

/** "Your answer" refers to the next one. */
const isThisAnswer = (sentence: string) => phrases.THIS_ANSWER.test(sentence) && !phrases.HABIT.test(sentence)

function clausesOf(sentence: string): readonly string[] {
  const main = sentence.replace(phrases.LEAD, "")
  return [main, ...main.split(phrases.CLAUSE).slice(1)]
}

function isImperative(clause: string, isGeneral: boolean): boolean {
  const main = withoutFillers(clause).replace(phrases.POLITE, "").replace(phrases.BEGINS_FROM_NOW, "")
  if (phrases.NAMING.test(main) || phrases.LANGUAGE.test(main) || phrases.STOPPING.test(main)) return true
  if (phrases.FORBIDDING.test(main) && phrases.STYLE.test(main) && !isThisAnswer(main)) return true
  const adverb = phrases.ADVERB_FIRST.exec(main)?.[0]
  if (adverb !== undefined) return !phrases.NOT_BASE.test(main.slice(adverb.length))
  if (!isGeneral || phrases.SOMEONE_ELSE.test(main) || isThisAnswer(main)) return false
  return phrases.NO_MORE.test(main) || phrases.VERB_FIRST.test(main)
}

/** "Do not use tabs": about the form of results, in general or in the current task. */
function isForm(sentence: string): boolean {
  const main = sentence.replace(phrases.POLITE, "")
  if (phrases.POINTING.test(main) || isThisAnswer(main)) return false
  if (NONE_PLEASE.test(sentence)) return true
  return phrases.FORBIDDING.test(main) || phrases.CONTRASTING.test(main) || phrases.PLAIN_USE.test(main)
}

/**
 * Removes the parts of a sentence that are not about how to work: the text that a task is about, the subject of a poem or a function,
 * and statements of others. "Translate: never give up.", "Write a poem about how to always be kind.", "Always wear a helmet, my dad
 * says."
 */

/** Words before a colon that announce a text. Verbs can come last, so any position before the colon is accepted. */
const textFollows = lazy(
  () =>
    new RegExp(
      [
        "^(?:(?:please|can you|could you|now|then|ok(?:ay)?),? )*(?:translate|proofread|correct|paraphrase|rephrase|reword|rewrite|summari[sz]e|shorten|improve|polish|edit|spell-?check|pronounce|analy[sz]e|explain|interpret|classify|transcribe|type|read|repeat|print|say|continue|complete|convert)\\b",
        "(?<!\\p{L})(?:übersetze?n?|korrigiere?n?|fasse? |formuliere?n?|kürze?n?|verbessere?|vorlesen|erkläre?|tradui[st]?(?:ez|re)?|corrige[rz]?|résume[rz]?|reformule[rz]?|traduce|traduzca|traduc[ie]r?|resume|reescribe|reformula|tradu[zç]\\p{L}*|corrija|resuma|correggi|riassumi|riscrivi|vertaal|corrigeer|vat |herschrijf|leg uit)",
        "перевед\\p{L}*|исправ\\p{L}*|перефразируй\\p{L}*|сократи\\p{L}*|перескаж\\p{L}*|объясни\\p{L}*|翻译|翻譯|校对|总结|概括|改写|润色|解释|翻訳|訳し|要約|校正|言い換え|説明し|번역|요약|교정|설명|ترجم|لخص|لخّص|صحح|صحّح|اشرح|अनुवाद|सारांश",
      ].join("|"),
      "iu",
    ),
)
const MAX_BEFORE_COLON = 80

interface CreationForm {
  /** One thing is to be created. */
  readonly one: RegExp
  /** From here on, the words are about that thing. */
  readonly about: RegExp
}

/** Without an article, "about" shows that one thing is meant. */
const waysOfMaking = lazy((): readonly CreationForm[] => [
  {
    one: /^(?:(?:please|now|then|ok(?:ay)?|also),? )*(?:write|compose|draft|create|make|design|draw|paint|generate|tell|sing|build|implement|prepare|give|invent|come up with)(?: me| us)? (?:an?|one|some|two|three|five|ten|\d+) /iu,
    about: /(?<=^[^,;]*)\b(?:always|never)\b[^,;]*/iu,
  },
  {
    one: /^(?:please )?(?:translate|proofread|paraphrase|rephrase|spell|pronounce|summari[sz]e|explain|describe|define|discuss) /iu,
    about: /(?<=^[^,;:]*)\b(?:always|never)\b.*/iu,
  },
  {
    one: /^(?:bitte )?(?:schreib|verfass|erstell|erzähl|mal|zeichn|dicht|entwirf|erfind|mach|bau|programmier)\p{L}*(?: mir| uns| bitte)* ein(?:e|en|en|s)? /iu,
    about: /(?<!\p{L})(?:immer|nie|niemals|stets)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:écri[st]|écrivez|rédige|compose|raconte|dessine|crée|invente|fais)\p{L}*(?:-moi|-nous)? (?:un|une|des) /iu,
    about: /(?<!\p{L})(?:toujours|jamais)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:por favor,? )?(?:escrib|redact|comp[oó]n|cuent|cuént|dibuj|cre|invent|ha[zg]|escríb)\p{L}* (?:un|una|unos|unas) /iu,
    about: /(?<!\p{L})(?:siempre|nunca|jamás)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:escrev|redij|cont|cri|faç|desenh|invent|scriv|compon|raccont|cre|disegn|fai|fammi)\p{L}*(?:-me)? (?:uma?|uno?|una|un')\s?/iu,
    about: /(?<!\p{L})(?:sempre|nunca|jamais|mai)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:schrijf|maak|verzin|teken|vertel|bedenk)(?: me| ons)? een /iu,
    about: /(?<!\p{L})(?:altijd|nooit)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:пожалуйста,? )?(?:напиш|сочин|придума|расскаж|нарису|созда|состав)\p{L}* [^,]{2,40}(?: об? | про |, как )/iu,
    about: /(?:всегда|никогда).*/iu,
  },
  {
    one: /^请?(?:帮我|给我)?(?:写|画|编|讲|创作|作)一?(?:首|篇|个|段|幅|则|封)/u,
    about: /(?:总是|永远|从不|绝不|始终|一直|必须|永不).*/u,
  },
  { one: /について.*(?:書|作|描|話|教え)/u, about: /^.*について/u },
  { one: /에 (?:대한|관한|대해).*(?:써|만들|그려|지어|작성)/u, about: /^.*에 (?:대한|관한|대해)/u },
  {
    one: /^(?:من فضلك،? )?(?:اكتب|ألف|ألّف|ارسم|احك|أنشئ)(?: لي)? \S+ (?:عن|حول) /u,
    about: /(?:عن|حول) .*/u,
  },
  { one: /के बारे में .*(?:लिख|बना|सुना)/u, about: /^.*के बारे में/u },
])

/** An attribution to someone else, at the end after a comma or a dash. Not if the user is named. */
const ATTRIBUTED =
  /(?:,| [–—-]+) (?:(?:as|so|or so|like) )?(?:(?:my|our|the|his|her|their|your)(?: [\p{L}'-]+){1,3}|he|she|they|people|everyone|mum|mom|dad|grandma|grandpa|\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?) (?:(?:always|often|usually|used to|keeps?|would) )*(?:say|says|said|saying|tell|tells|told|telling|think|thinks|insist|insists|insisted|claim|claims|recommend|recommends|warn|warns|advise|advises|preach|preaches|put)(?: (?:me|us|it|so))*\W*$|(?:,| [–—-]+) (?:says|said|warns|insists) \p{L}.*$|(?:,| [–—-]+) (?:to quote|in the words of|according to|quoth) .*$|, so (?:mein|meine|unser|unsere|der|die)(?!\p{L}).*$/iu

/** The part of a sentence in which the user can tell the agent how to work. */
function addressedPart(sentence: string): string {
  if (ATTRIBUTED.test(sentence)) return ""
  const colon = sentence.slice(0, MAX_BEFORE_COLON).indexOf(":")
  if (colon > 0 && textFollows().test(sentence.slice(0, colon))) return sentence.slice(0, colon)
  const making = waysOfMaking().find(({ one }) => one.test(sentence))
  return making ? sentence.replace(making.about, "").trim() : sentence
}

const MAX_SENTENCE = 400 // characters; a longer sentence is pasted text
const MIN_SENTENCE = 4
const LIST_MARK = /^\s*(?:[-*+•]|\d+[.)])\s+/u
const QUOTATION =
  /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|‘[^’\n]{8,}’|(?<![\p{L}\p{N}])'[^'\n]{8,}'(?![\p{L}\p{N}])/gu
/** A quotation of one or two words can be a name. A longer one is a statement of someone else. */
const SHORT_QUOTATION = /^.(?:[^\s]+\s?){1,2}.$/u

/** Cached per text, because rules are searched when messages arrive, and again by each extraction. */
export const lastingRules = memoize((text): readonly string[] => {
  const sentences = splitSentences(typedLines(text).join("\n"))
    .map((sentence) => sentence.replace(LIST_MARK, "").trim())
    .filter((sentence) => sentence.length >= MIN_SENTENCE)
    .map((sentence) => ({ sentence, ...findRule(sentence) }))
  const isWork = sentences.some(({ sentence, likeness }) => likeness === "none" && isEnglishRequest(plainOf(sentence)))
  return sentences
    .filter(({ likeness }) => likeness === "rule" || (likeness === "alone" && !isWork))
    .map(({ words }) => words)
})

/** The rule in a sentence, without the story before it and the question after it, if the rest still is a rule. */
function findRule(sentence: string): { readonly words: string; readonly likeness: RuleLikeness } {
  const stated = statedPart(sentence)
  const clause = clauseWith(stated, (words) => ruleLikeness(words) === "rule")
  return clause === undefined ? { words: stated, likeness: ruleLikeness(stated) } : { words: clause, likeness: "rule" }
}

function ruleLikeness(sentence: string): RuleLikeness {
  if (sentence.length > MAX_SENTENCE) return "none"
  const plain = addressedPart(plainOf(sentence))
  const english = englishRule(plain)
  return english !== "rule" && isRuleElsewhere(plain) ? "rule" : english
}

const plainOf = (sentence: string) =>
  sentence
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replaceAll("’", "'")
    .replace(QUOTATION, (quoted) => (SHORT_QUOTATION.test(quoted) ? "it" : "…"))
    .replace(/[`*_]/g, "")
    .replace(/\s+/gu, " ")
    .trim()
