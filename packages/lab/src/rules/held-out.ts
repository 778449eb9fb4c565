/** No rule of the recogniser was written from these sentences. They were written before it, and are only measured. */
import type { Sentences } from "./sentences.ts"

export const HELD_OUT: Sentences = {
  rules: {
    en: `
      Always give me the answer first and the reasoning after it.
      When I ask about dates, always spell out the month.
      Never use emojis in your replies.
      From now on, reply in British English.
      I prefer short paragraphs to bullet points.
      Please keep your explanations under 200 words.
      Going forward, include unit tests with any code you write.
      Whenever I paste a stack trace, start with the most likely cause.
      I'd rather you ask me than guess.
      Don't ever commit directly to the main branch.
      Do not apologise every time I correct you.
      If I ask for a recipe, give quantities in grams.
      I want all SQL keywords in uppercase.
      You should always double-check your arithmetic before answering.
      Call me Mo, not Mohammed.
      Stop ending every message with a question.
      In future, format tables in markdown.
      For every API you mention, link to its documentation.
      I like my summaries as a numbered list.
      Always include the version number when I ask about a library.
      Please never suggest paid tools.
      Each time you change a file, run the linter afterwards.
      Use pnpm instead of npm in all commands from here on.
      I don't want any emojis or exclamation marks in your answers.
      Make sure you always cite your sources when I ask about health topics.
      My preference is for functional components over classes.
      Remember that I'm vegetarian, so leave meat out of every suggestion.
      Please remember to address me formally.
      Unless I say otherwise, assume that I use Linux.
      By default, write examples in Go.
      Can you always show the units in your calculations?
      Could you please stop using so much jargon from now on?
      When it comes to money, I prefer to see figures in euros.
      Never, under any circumstances, delete files without asking me first.
      I need you to always mention trade-offs when you compare libraries.
      Any time we talk about deadlines, remind me of the buffer.
      All commit messages must be in the imperative mood.
      No more than three options per answer, please, from now on.
      Every function you write should have a docstring.
      When reviewing my code, be blunt.
      Before you push anything, run the whole test suite.
      Just so you know for next time: I read code better than prose.
      I'd like you to use the 24-hour clock whenever you mention a time.
      Answer in Portuguese unless I write in English.
      Avoid adverbs when you edit my texts.
      Please always respond with a one-line summary at the top.
      I always want to see the diff before you apply it.
      Try to keep responses free of filler phrases going forward.
      For future reference, our style guide forbids default exports, so never use them.
      You don't need to explain basic git commands to me anymore.
      As a rule, propose the simplest solution first.
      It's important to me that you always name the assumptions you make.
      If something is unclear, ask before you start, every time.
      Treat me as an expert in statistics in all our conversations.
      I generally prefer open-source libraries with a permissive licence.
      Never mind speed, always go for readability in the code you give me.
      Whenever I share an error message, include the exact command to reproduce it.
      Please use "they" when you refer to my partner, always.
      I hate long introductions, so skip them in your answers.
      Keep the tone of all emails you draft for me friendly but brief.
      When I say "ship it", run the release checklist.
      Always use the metric system when I ask about distances.
      I prefer to be asked before you install new packages.
      Don't use semicolons in JavaScript code for me.
      Your answers should always end with a list of next steps.
      I would prefer that you use type hints in all Python code.
      Only suggest hotels with free cancellation when I ask about travel.
      Please be concise in all your replies.
      Never again use tabs for indentation.
      Write every code comment in English, even if I write in German.
      Always list the ingredients before the steps when I ask for a recipe.
      I prefer reading on paper, so give me text that prints well.
      In all of our chats, please call the project Heron.
      Never book anything before nine in the morning for me.
      When I ask how long something takes, answer in working days.
      Please include the source file name with every snippet you show.
      I'd rather get a rough answer quickly than a perfect one late.
      Whenever we discuss my novel, stay away from spoilers for book two.
      From now on, when I say "the client", I mean Nordwind.
      You must always tell me when you are guessing.
      Do not use abbreviations in your explanations.
      I like it when you number the steps.
      Every answer should start with a yes or a no if I ask a yes-or-no question.
      Always double-check names of people before you write to them.
      If I send a photo, describe it first.
      Please stick to free tools in your recommendations.
      I want you to correct my French every time I make a mistake.
      Let's use metric from now on.
      Next time, don't change files that I did not mention.
      Remember that I can't eat dairy.
      Unless I ask for more, three sentences are enough.
      Stop telling me that something is a great question.
      By default, sort tables by date.
      Could you always put the price in brackets?
      My answers from you should be short, I read them on my phone.
      Avoid metaphors when you talk to me about statistics.
      Never answer with only a link.
      For legal questions, mention which country's law you assume.
      I generally like tests that read like a story, so write yours that way.
      Don't ever round money amounts in what you send me.
      Keep commit messages below fifty characters.
      When you are unsure about a date, say so.
      I hate surprises, so tell me about side effects before you run a command.
      Always ask before you use my credit card.
      Please speak plainly to me, no marketing words in any text you write.
    `,
    de: `
      Antworte mir bitte immer auf Deutsch.
      Verwende nie Emojis in deinen Antworten.
      Ab jetzt bitte alle Preise in Euro angeben.
      Ich bevorzuge kurze Absätze statt langer Listen.
      Wenn ich nach Terminen frage, nenne immer das genaue Datum.
      In Zukunft schreibst du Commit-Nachrichten auf Englisch.
      Bitte duze mich ab sofort.
      Lösche niemals Dateien, ohne mich vorher zu fragen.
      Ich möchte, dass du immer zuerst die Antwort gibst und dann die Begründung.
      Mir ist es lieber, wenn du nachfragst, statt zu raten.
      Du sollst vor jedem Commit die Tests laufen lassen.
      Gib bei jeder Empfehlung auch einen Nachteil an.
      Immer wenn ich einen Fehler einfüge, erkläre zuerst die Ursache.
      Künftig keine Anglizismen mehr, bitte.
      Bitte antworte mir in Zukunft kürzer.
      Frag mich immer, bevor du etwas löschst.
      Ich mag es lieber, wenn du Beispiele nimmst.
      Sag mir jedes Mal, welche Datei du geändert hast.
      Du darfst nie direkt auf main pushen.
      Von jetzt an bitte nur noch metrische Angaben.
    `,
    fr: `
      Réponds-moi toujours en français.
      N'utilise jamais d'émojis dans tes réponses.
      À partir de maintenant, donne les prix en euros.
      Je préfère les réponses courtes aux longues listes.
      Quand je te demande une date, indique toujours le jour de la semaine.
      Désormais, écris les messages de commit en anglais.
      J'aimerais que tu poses une question plutôt que de deviner, à chaque fois.
      Ne supprime jamais un fichier sans me demander.
      Tutoie-moi dorénavant.
      Je veux que tu cites toujours tes sources.
      Chaque fois que je colle une erreur, commence par la cause probable.
      À l'avenir, évite les anglicismes.
      Merci de toujours commencer par un résumé.
      Demande-moi toujours avant de supprimer quelque chose.
      Dis-moi chaque fois quel fichier tu as changé.
      Tu ne dois jamais pousser directement sur main.
      Je préfère les exemples aux définitions.
      Dorénavant, réponds plus court.
    `,
    es: `
      Responde siempre en español.
      Nunca uses emojis en tus respuestas.
      De ahora en adelante, da los precios en euros.
      Prefiero respuestas cortas en lugar de listas largas.
      Cuando te pregunte por fechas, incluye siempre el día de la semana.
      A partir de hoy, escribe los mensajes de commit en inglés.
      No borres nunca un archivo sin preguntarme antes.
      Quiero que siempre cites tus fuentes.
      Cada vez que pegue un error, empieza por la causa más probable.
      Por favor, tutéame siempre.
      En el futuro, evita los anglicismos.
      Me gusta más que preguntes a que adivines.
      Siempre que te pida código, añade pruebas.
      Pregúntame siempre antes de borrar algo.
      Dime cada vez qué archivo has cambiado.
      No debes subir nunca nada directamente a main.
      Prefiero los ejemplos a las definiciones.
      A partir de ahora responde más corto.
    `,
    ru: `
      Всегда отвечай мне по-русски.
      Никогда не используй эмодзи в ответах.
      С этого момента указывай цены в евро.
      Я предпочитаю короткие абзацы вместо длинных списков.
      Когда я спрашиваю о датах, всегда называй день недели.
      Впредь пиши сообщения коммитов на английском.
      Не удаляй файлы без моего разрешения, никогда.
      Хочу, чтобы ты всегда указывал источники.
      Каждый раз, когда я присылаю ошибку, начинай с причины.
      Пожалуйста, в дальнейшем избегай англицизмов.
      Мне больше нравится, когда ты задаёшь вопросы, а не угадываешь.
      Отныне обращайся ко мне на «ты».
      Всегда спрашивай меня, прежде чем что-то удалить.
      Каждый раз говори, какой файл ты изменил.
      Тебе нельзя никогда пушить прямо в main.
      Я предпочитаю примеры, а не определения.
      Впредь отвечай короче.
    `,
    zh: `
      请始终用中文回答我。
      回复里不要再用表情符号了。
      从现在开始,价格都用欧元表示。
      我更喜欢简短的段落,而不是长列表。
      每当我问日期的时候,请写出星期几。
      以后提交信息一律用英文写。
      没有问过我,绝对不要删除文件。
      我希望你每次都先给结论再给理由。
      今后请避免使用专业术语。
      每次修改代码之后都要运行测试。
      写代码时请务必加上类型注解。
      以后叫我小林就行。
      删除任何东西之前,请务必先问我。
      每次都要告诉我你改了哪个文件。
      你绝不能直接推送到主分支。
      我更喜欢例子,而不是定义。
      今后请回答得短一些。
    `,
    ja: `
      いつも日本語で答えてください。
      返信に絵文字は絶対に使わないでください。
      これからは価格をユーロで書いてください。
      長いリストより短い段落のほうが好みです。
      日付を聞いたときは、必ず曜日も教えてください。
      今後、コミットメッセージは英語で書くようにしてください。
      確認なしにファイルを削除しないでください、今後一切。
      毎回、最初に結論を述べてほしいです。
      エラーを貼ったら、まず原因から説明してください。
      以後は専門用語を避けてください。
      コードには常に型注釈を付けること。
      推測するより質問してくれるほうがいいです。
      何かを削除する前に、必ず私に聞いてください。
      毎回、どのファイルを変えたか教えてください。
      決してmainに直接プッシュしないでください。
      定義より例のほうが好きです。
      これからはもっと短く答えてください。
    `,
    ko: `
      항상 한국어로 대답해 주세요.
      답변에 이모지는 절대 쓰지 마세요.
      앞으로는 가격을 유로로 표시해 줘.
      긴 목록보다 짧은 문단을 선호해요.
      날짜를 물어보면 항상 요일도 알려 줘.
      이제부터 커밋 메시지는 영어로 작성해 주세요.
      나한테 묻지 않고 파일을 절대 삭제하지 마.
      매번 결론부터 먼저 말해 주면 좋겠어.
      오류를 붙여 넣을 때마다 원인부터 설명해 줘.
      앞으로 전문 용어는 피해 주세요.
      코드에는 반드시 타입을 붙여 주세요.
      지금부터 반말로 해.
      무언가를 지우기 전에 항상 나에게 물어봐 줘.
      매번 어떤 파일을 바꿨는지 알려 주세요.
      절대 main에 바로 푸시하지 마세요.
      저는 정의보다 예시를 선호해요.
      앞으로는 더 짧게 대답해 줘.
    `,
    ar: `
      أجبني دائمًا باللغة العربية.
      لا تستخدم الرموز التعبيرية أبدًا في ردودك.
      من الآن فصاعدًا، اكتب الأسعار باليورو.
      أفضّل الفقرات القصيرة على القوائم الطويلة.
      عندما أسألك عن التواريخ، اذكر دائمًا يوم الأسبوع.
      في المستقبل، اكتب رسائل الالتزام بالإنجليزية.
      لا تحذف أي ملف دون أن تسألني، أبدًا.
      أريدك أن تذكر مصادرك دائمًا.
      في كل مرة ألصق فيها خطأ، ابدأ بالسبب الأرجح.
      تجنب المصطلحات التقنية من اليوم فصاعدًا.
      كلما طلبت منك كودًا، أضف اختبارات.
      اسألني دائمًا قبل أن تحذف شيئًا.
      أخبرني في كل مرة أي ملف غيّرت.
      لا تدفع مباشرة إلى main أبدًا.
      أفضّل الأمثلة على التعريفات.
      من الآن فصاعدًا أجب باختصار.
    `,
  },
  lookAlikes: {
    en: {
      question: `
        How can I make sure my chart renders correctly on mobile?
        Should I always use HTTPS for internal services?
        Why does the build never finish on the CI server?
        Do I need to avoid nested loops here?
        Is it true that you should never store passwords in plain text?
        What's the best way to always have the newest data in the cache?
        Would you prefer Flask or Django for something this small?
        Can you explain why people always recommend indexes?
        When should I prefer composition over inheritance?
        How do I stop the server from restarting every time I save
        Could you remind me whenever-clauses or cron jobs, which one is it called?
        Is there a way to make sure the tests never touch the network?
        Which of the two would you rather use in production?
        what happens if I always return null there
      `,
      "task wish": `
        Please make sure the button is centred on the page.
        I want to add a login form to the app.
        Write a function that never returns null.
        Don't change the header in this version.
        I need a script that always restarts the worker when it crashes.
        Use the second approach for this file.
        I'd like to get this finished before Friday.
        Add a check so that users must confirm their email.
        Please keep the original title in this draft.
        For this task, only use the standard library.
        Make the sidebar sticky and avoid any layout shift.
        Fix the bug where the date never updates.
        Let's go with the blue one this time.
        I prefer the first version you sent.
        Remember to close the modal after the request in that handler.
        Give me five names for the new cat café.
        Translate this paragraph and don't translate the names in it.
        Could you make sure that the query is not too slow?
        When the user clicks the button, always show a spinner.
        Rewrite the email so it never sounds rude.
      `,
      quotation: `
        The README says "always run make clean before you build".
        "Never trust user input" is what the poster in our office says.
        My favourite line in the book is "Always leave a note".
        The error reads: must not be empty.
        The linter prints "prefer const over let" for line 12.
        Translate "Never give up" into Latin.
        The sign said 'Please keep your answers short'.
        What is wrong with the sentence "I prefer tea than coffee"
        > From now on all requests need a token.
        The first rule in their contributing guide is "do not use tabs".
      `,
      reported: `
        My boss asked me to always copy him on emails.
        The teacher said we should never use Wikipedia.
        According to the docs, you must always call close().
        Our lawyer insists that we never talk about prices in writing.
        He keeps telling me to avoid carbs.
        The vendor recommends always enabling encryption.
        My doctor wants me to walk every day from now on.
        They asked us to use the new form going forward.
        Someone on Reddit wrote that you should always soak the beans.
        My sister prefers trains over planes.
      `,
      trying: `
        I'm trying to build a dashboard that shows sales for each week.
        I'm trying to understand why the tests are always slow.
        I'm working on a budget tracker and I need to calculate totals.
        I want to learn how to make sure my code is clean.
        I'm planning a trip to Norway and would like to avoid tourist traps.
        I've been trying to keep a diary since March.
        I'm looking for a way to never miss a payment again.
        I'm hoping to always have a backup at hand.
        I'm kind of worried about the deadline on Monday.
        I need to prepare a presentation about our release process.
      `,
      hypothetical: `
        If I always used a queue, the order would be kept.
        Suppose we never delete rows.
        Imagine that every request must be signed.
        If we had to prefer one of them, it would be Postgres.
        In a perfect world, people would always write tests.
        Say a customer asks you to never call them again.
        Maybe we could always cache it, I don't know yet.
        Let's assume the list is never empty.
      `,
      past: `
        I always wanted to learn the cello.
        We never had this problem with the old version.
        From then on, we only met on Sundays.
        I used to prefer tabs.
        Last year they made us avoid all meetings on Fridays.
        I never got around to reading it.
        You always gave me good answers last week.
        We had to make sure no one was in the building.
        I didn't want to use the other library back then.
      `,
      observation: `
        The server always returns a 500 on the second call.
        It never works on Safari.
        This field must not be empty.
        My dog always barks when the bell rings.
        The parser should never see a tab there.
        People prefer the old layout.
        That request only ever fails from the office network.
        Never seen an error like this before.
        My cat avoids the new bowl.
        I never know which of the two to pick.
        I always forget the syntax of this command.
        We always deploy on Tuesdays, so the load is higher then.
        Users must be older than 18.
        The invoice has to be paid every month.
        How do people make sure that they always wake up on time?
        I'm writing a parser that must never throw, can you look at it?
        My neighbour always parks in front of our gate.
        Please make the second table wider and avoid line breaks in it.
        She said that I should always carry cash in Japan.
        I never liked the old logo.
        If we always ship on Fridays, the weekend is at risk.
        Write a letter that always stays polite, even in the last paragraph.
        The contract says that the tenant must never sublet.
        I prefer the blue cover over the green one.
        Is it better to always commit lock files?
        We never found the cause back then.
        I want to avoid paying twice for the same ticket.
        Show me every file that was changed last week.
        Whenever I open the app, it asks me to log in again.
        When I ask the server for a page, I get an empty answer.
        Can you list all the rules of chess that beginners always forget?
        Add a note that customers should always keep the receipt.
        I'm always nervous before talks.
        Use the template that I sent you for the invoice.
        Don't merge the branch until Lena has looked at it.
        I'd prefer a table for the comparison you make now.
        The doctor recommended that I never skip breakfast.
        It would be great if the button always stayed visible.
        Maybe I should always write things down.
        Explain why every prime greater than two is odd.
        Keep the second verse as it is.
        Every time I restart, the port is taken.
        Summarise each chapter in one sentence.
        I need you to write tests for the importer by tonight.
        Never had a better pizza in my life.
        You always know what to say.
        From now on the office is closed on Mondays, what does that mean for us?
        Our users prefer email.
        Let me know if anything is unclear.
      `,
    },
    de: `
      Warum antwortet der Server nie?
      Wie kann ich sicherstellen, dass die Grafik immer geladen wird?
      Der Server antwortet immer mit einem Fehler.
      Ich wollte schon immer Cello lernen.
      Mein Chef sagt, wir sollen nie freitags deployen.
      In der Anleitung steht „Immer zuerst sichern“.
      Ich versuche gerade, ein Dashboard zu bauen.
      Wenn ich das immer so machen würde, wäre ich schneller.
      Früher haben wir nie Tests geschrieben.
      Das Feld darf nie leer sein.
      Schreib eine Funktion, die niemals null zurückgibt.
      Bitte achte in dieser Datei auf die Einrückung.
      Soll ich immer HTTPS verwenden?
      Warum soll man Passwörter nie speichern?
      Mein Nachbar parkt immer vor dem Tor.
      Schreib einen Brief, der immer höflich bleibt.
      Ich war noch nie in Oslo.
      Im Vertrag steht, dass man nie untervermieten darf.
      Immer wenn ich die App öffne, stürzt sie ab.
    `,
    fr: `
      Pourquoi le serveur ne répond-il jamais ?
      Comment être sûr que le graphique s'affiche toujours ?
      Le serveur renvoie toujours une erreur.
      J'ai toujours voulu apprendre le violoncelle.
      Mon chef dit de ne jamais déployer le vendredi.
      Le guide dit « toujours sauvegarder d'abord ».
      J'essaie de construire un tableau de bord.
      Si je faisais toujours ça, j'irais plus vite.
      Avant, on n'écrivait jamais de tests.
      Ce champ ne doit jamais être vide.
      Écris une fonction qui ne renvoie jamais null.
      Dois-je toujours utiliser HTTPS ?
      Mon voisin se gare toujours devant la porte.
      Je ne suis jamais allé à Oslo.
      Le contrat dit qu'on ne peut jamais sous-louer.
      Chaque fois que j'ouvre l'application, elle plante.
    `,
    es: `
      ¿Por qué el servidor nunca responde?
      ¿Cómo me aseguro de que el gráfico siempre se muestre?
      El servidor siempre devuelve un error.
      Siempre quise aprender a tocar el chelo.
      Mi jefe dice que nunca despleguemos los viernes.
      La guía dice «siempre guarda primero».
      Estoy intentando construir un panel.
      Si siempre hiciera eso, iría más rápido.
      Antes nunca escribíamos pruebas.
      Este campo nunca debe estar vacío.
      Escribe una función que nunca devuelva null.
      ¿Debo usar siempre HTTPS?
      Mi vecino siempre aparca delante de la puerta.
      Nunca he estado en Oslo.
      El contrato dice que nunca se puede subarrendar.
      Cada vez que abro la aplicación, se cierra.
    `,
    ru: `
      Почему сервер никогда не отвечает?
      Как сделать так, чтобы график всегда отображался?
      Сервер всегда возвращает ошибку.
      Я всегда хотел научиться играть на виолончели.
      Мой начальник говорит, что нельзя деплоить по пятницам.
      В инструкции написано «всегда сначала сохраняй».
      Я пытаюсь сделать панель.
      Если бы я всегда так делал, было бы быстрее.
      Раньше мы никогда не писали тесты.
      Это поле никогда не бывает пустым.
      Напиши функцию, которая никогда не возвращает null.
      Мой сосед всегда паркуется у ворот.
      Я никогда не был в Осло.
      В договоре написано, что никогда нельзя сдавать.
      Каждый раз, когда я открываю приложение, оно падает.
    `,
    zh: `
      为什么服务器总是不响应?
      怎样才能保证图表总是显示出来?
      服务器总是返回错误。
      我一直想学大提琴。
      我老板说永远不要在周五部署。
      指南上写着“始终先保存”。
      我正在尝试做一个仪表盘。
      如果我总是这样做,就会更快。
      以前我们从不写测试。
      这个字段必须不为空。
      写一个从不返回空值的函数。
      我的邻居总是把车停在门口。
      我从没去过奥斯陆。
      合同上说永远不能转租。
      每次我打开应用,它都会崩溃。
    `,
    ja: `
      なぜサーバーはいつも応答しないのですか?
      グラフを必ず表示させるにはどうすればいいですか?
      サーバーは常にエラーを返します。
      ずっとチェロを習いたいと思っていました。
      上司は金曜日に絶対デプロイするなと言っています。
      ガイドには「必ず先に保存してください」と書いてあります。
      ダッシュボードを作ろうとしています。
      いつもそうしていれば、もっと速いでしょう。
      以前はテストを決して書きませんでした。
      このフィールドは必ず空でない必要があります。
      決してnullを返さない関数を書いてください。
      隣の人はいつも門の前に車を止めます。
      オスロには一度も行ったことがありません。
      アプリを開くたびに落ちます。
    `,
    ko: `
      왜 서버가 항상 응답하지 않나요?
      그래프가 항상 보이게 하려면 어떻게 해야 하나요?
      서버가 항상 오류를 반환합니다.
      저는 항상 첼로를 배우고 싶었어요.
      상사가 금요일에는 절대 배포하지 말라고 해요.
      안내서에 "항상 먼저 저장하세요"라고 적혀 있어요.
      대시보드를 만들려고 하고 있어요.
      항상 그렇게 했다면 더 빨랐을 거예요.
      예전에는 테스트를 절대 쓰지 않았어요.
      이 필드는 반드시 비어 있지 않아야 합니다.
      절대 null을 반환하지 않는 함수를 작성해 줘.
      이웃은 항상 문 앞에 주차해요.
      저는 오슬로에 절대 가 본 적이 없어요.
      앱을 열 때마다 꺼져요.
    `,
    ar: `
      لماذا لا يستجيب الخادم أبدًا؟
      كيف أتأكد من أن الرسم يظهر دائمًا؟
      الخادم يعيد دائمًا خطأ.
      كنت دائمًا أريد تعلم التشيلو.
      يقول مديري إنه لا يجب النشر يوم الجمعة أبدًا.
      مكتوب في الدليل «احفظ دائمًا أولًا».
      أحاول بناء لوحة معلومات.
      لو كنت أفعل ذلك دائمًا لكنت أسرع.
      سابقًا لم نكتب اختبارات أبدًا.
      هذا الحقل لا يكون فارغًا أبدًا.
      اكتب دالة لا تعيد قيمة فارغة أبدًا.
      جاري يوقف سيارته دائمًا أمام الباب.
      لم أزر أوسلو أبدًا.
      في كل مرة أفتح التطبيق، يتوقف.
    `,
  },
  advice: `
    Always validate the input before you store it.
    Never commit secrets to the repository.
    I prefer to start with a small prototype.
    From now on I will answer in a shorter form.
    Make sure you test the edge cases every time.
    Avoid global state whenever you can.
  `,
}
