/** The sentences on which the recogniser was chosen. Its figures come from others. */
import type { Sentences } from "./sentences.ts"

export const CHOSEN: Sentences = {
  rules: {
    en: `
      Always answer in French.
      Always write commit messages in English.
      Never mock the database in tests.
      I prefer tables over long lists.
      Use metric units in every answer.
      From now on use tabs.
      Please keep your answers short.
      Keep responses under five sentences.
      When I ask about a medicine, include its side effects.
      Whenever I mention a city, add its time zone.
      If I ask for code, always add comments.
      Don't use emojis.
      Do not add comments to code unless I ask.
      Stop apologising.
      Call me Sam.
      I want you to always explain your reasoning.
      You must never push to main.
      You should always run the tests first.
      I'd like your answers to be in plain language.
      I'd like all code samples in TypeScript.
      I don't like long answers.
      I'd prefer that you ask before deleting anything.
      I would rather have one good option than five.
      Going forward, please number your suggestions.
      In the future, mention the source of every figure.
      Remember that I am allergic to nuts.
      Remember: our API is versioned by date.
      Please remember that I work in UTC+9.
      By default, assume Python 3.12.
      Unless I ask for details, give me just the command.
      Every time you edit a file, show me the diff.
      Before you commit, run the formatter.
      After each change, run the type checker.
      When you write SQL, use snake case.
      When writing tests, use real files.
      For all future answers, use bullet points.
      Write dates as year, month, day from now on.
      Always put the ticket number first in branch names.
      Never sign my emails with my full name.
      I prefer code samples in TypeScript.
      Answer in German unless I ask otherwise.
      Be brief in all your answers.
      All tests must run offline.
      Commit messages should always be in English.
      Could you always include a short summary?
      Can you please never use that word again?
      No emojis in your answers, please.
      Under no circumstances touch the production database.
      Only use free libraries in any code you give me.
      Avoid passive voice in everything you write for me.
      My preferred language is Rust.
      I prefer dark themes for anything with a screen.
      I always want the short version first.
      Let's always use UTC.
      We use pnpm here, never npm.
      Please don't ever rewrite my code without asking.
      Make sure to always mention the cost.
      Also, always include the exact error message when I ask about failures.
      And please, from here on out, no more tables.
      I need answers in simple English because my team is international.
      It would be great if you always gave an example.
      Your replies should be formal.
      Use British spelling in all documents.
      Address me as Dr. Okafor.
      Please refer to my company as Acme in everything you write.
      For coding questions, show the code first.
      I only want vegan recipes from you.
      Explain things to me like I'm new to statistics, always.
      Do it this way from now on: first the plan, then the code.
      Next time, ask me first.
      Always provide exact figures when I ask about the budget.
      I prefer cash-flow tables with monthly totals, it makes it easier for me to follow.
      Always confirm the time zone when I ask about meetings.
      When I ask for book recommendations, only list novels under 300 pages.
      Please format every date as DD.MM.YYYY.
      I prefer to work in short sprints of two weeks with a review at the end.
      Whenever I bring up my thesis, remind me of the word limit.
      My rule is simple: no code without tests.
      Do not ever share my address with anyone in what you draft.
      I would like all recipes to be gluten free.
      If I mention my knee, leave out running.
      Never use the phrase "in conclusion" in anything you write for me.
      In every email you draft, sign as "A. Petrov".
      I appreciate concise replies, so keep them that way.
      Always include a link to the official docs when I ask about a framework.
      Let's agree that you always show the command before running it.
      Don't ask me for confirmation on small edits anymore.
      Please always use the Oxford comma.
      I need you to be honest with me at all times, even if it hurts.
      Anytime I ask for a translation, give me two variants.
      I prefer visual explanations with diagrams over text.
      When explaining math, show every intermediate step.
      Keep your suggestions vegetarian.
      Skip the pleasantries in your replies.
      You never need to explain what an API is to me.
      Always mention allergens if I ask for a menu.
      For any estimate you give me, add a range.
      I'd rather see failing tests first.
      Going forward, I want you to write migrations for every schema change.
      From here on out, treat warnings as errors.
      Please note that I always want answers in Canadian dollars.
      Use they/them pronouns for me.
      Remember my dog's name is Biscuit.
      I tend to prefer libraries that have TypeScript types.
      Whenever there's a breaking change, tell me first.
      As a rule of thumb, stay under 50 lines per function in the code you write.
      You should respond to me in Italian from now on.
      Can you make it a habit to always give the complexity of an algorithm?
      Never recommend anything with pork to me.
      I don't want to see any more apologies from you.
      Only ever use public transport in the routes you suggest.
      Make all your examples about football.
      I prefer using lightweight libraries over heavy frameworks|, so can you suggest some for my project?
      I'm trying to finish the parser by Friday, and ~I prefer step-by-step explanations with short examples|, can you help?
      I've decided I prefer morning workouts to evening ones.
      always include version numbers when i ask about dependencies
      could you keep your answers short from now on
      Please write all your code in TypeScript.
      no markdown tables in replies please
      dont use emojis
      plz stop adding comments to my code
      never ever force push
      pls answer in german
      I like answers with concrete numbers.
      Don't sugarcoat things with me.
      be direct with me, always
      If you're not sure, say so.
      When in doubt, ask.
      I expect every PR description to link the issue.
      My name is Ana, please use it when you address me.
      keep it brief unless I ask for more detail
      I'd appreciate it if you'd always give sources.
      You can skip the disclaimers from now on.
      Let me know before you run any destructive command, every time.
      For anything related to taxes, remind me to check with my accountant.
      Use Celsius.
      Whenever possible use built-in functions instead of dependencies.
      I want you to act as my editor in all future chats and flag passive voice.
      Only answer with code unless I ask for an explanation.
      I usually want the long version, not a summary.
      Please don't use the word 'delve'.
      Ask me clarifying questions before you start coding.
      Use simple words when you explain things to me.
      Show me prices including VAT whenever you mention them.
      I'd like to always see the imports in code you send me.
      You should never assume I have admin rights.
    `,
    de: `
      Antworte immer auf Deutsch.
      Schreib nie Kommentare in den Code.
      Bitte ab jetzt keine Emojis mehr.
      Ab sofort keine Kommentare.
      Ich mag kurze Antworten lieber.
      Ich bevorzuge Tabellen.
      Ich hätte gern immer ein Beispiel dazu.
      Wenn ich nach Code frage, zeig immer auch den Test.
      Bitte verwende in Zukunft Tabs.
      Ändere niemals die Datei config.json.
      Du sollst immer zuerst fragen.
      Bei jeder Änderung die Tests laufen lassen.
      Merk dir, dass ich kein Fleisch esse.
      Von nun an nenne mich Kim.
      Jedes Mal, wenn du eine Datei änderst, zeig mir den Unterschied.
      Bitte gib mir künftig immer zuerst eine kurze Zusammenfassung.
      Ich will keine Emojis mehr in deinen Antworten sehen.
      Sprich mich ab heute mit Vornamen an.
      Wenn ich Code schicke, prüfe immer auch die Tests.
      Verwende grundsätzlich metrische Einheiten.
      Kannst du bitte immer die Quelle nennen?
      Mir sind kurze Antworten lieber.
      Nie wieder Tabs verwenden.
    `,
    fr: `
      Réponds toujours avec un exemple.
      N'ajoute jamais de commentaires au code.
      Désormais, utilise des tabulations.
      Dorénavant, sois bref.
      Je préfère les tableaux.
      Quand je demande du code, montre toujours le test.
      J'aime mieux les réponses courtes.
      Tu dois toujours demander avant.
      Je voudrais que tu expliques toujours ton raisonnement.
      À chaque modification, lance les tests.
      Retiens que je ne mange pas de viande.
      N'utilise pas de tabulations, jamais.
      Évite toujours le jargon.
      Donne-moi toujours d'abord un résumé.
      Je ne veux plus d'émojis dans tes réponses.
      Appelle-moi par mon prénom désormais.
      Si je t'envoie du code, vérifie toujours les tests.
      Utilise par défaut des unités métriques.
      Pourrais-tu toujours citer la source ?
      Je préfère que tu sois direct.
    `,
    es: `
      Contesta siempre con un ejemplo.
      Nunca añadas comentarios al código.
      A partir de ahora usa tabuladores.
      De ahora en adelante sé breve.
      Prefiero las tablas.
      Cuando pida código, muestra siempre la prueba.
      Me gustan más las respuestas cortas.
      Debes preguntar siempre antes.
      Me gustaría que siempre expliques tu razonamiento.
      En cada cambio, ejecuta las pruebas.
      Recuerda que no como carne.
      No borres nunca las tablas.
      Nunca borres la tabla tres.
      Dame siempre primero un resumen.
      No quiero más emojis en tus respuestas.
      Llámame por mi nombre de ahora en adelante.
      Si te envío código, revisa siempre las pruebas.
      Usa por defecto unidades métricas.
      ¿Podrías citar siempre la fuente?
      Prefiero que seas directo.
    `,
    ru: `
      Отвечай всегда с примером.
      Никогда не добавляй комментарии в код.
      Отныне используй табуляцию.
      С этого момента будь краток.
      Я предпочитаю таблицы.
      Когда я прошу код, всегда показывай тест.
      Мне больше нравятся короткие ответы.
      Ты должен всегда спрашивать.
      Я хочу, чтобы ты всегда объяснял свои рассуждения.
      После каждого изменения запускай тесты.
      Запомни, что я не ем мясо.
      Никогда не удаляй файл.
      Сначала всегда давай краткое резюме.
      Больше не используй эмодзи в ответах.
      Называй меня по имени с этого дня.
      Если я присылаю код, всегда проверяй тесты.
      По умолчанию используй метрические единицы.
      Мне удобнее, когда ответы короткие.
      Предпочитаю прямые ответы.
    `,
    zh: `
      总是用中文回答。
      请务必先执行测试。
      不要在代码里写注释,以后都这样。
      从现在起使用制表符。
      我喜欢简短的回答。
      我偏好表格。
      当我要代码时,总是给出测试。
      你必须每次都先问我。
      以后请先给出计划。
      请记住我不吃肉。
      绝不修改配置文件。
      回答要一直保持简短。
      请每次先给我一个简短的总结。
      以后不要在回答里用表情。
      从今天起叫我的名字。
      如果我发代码,请每次都检查测试。
      默认使用公制单位。
      我比较喜欢直接的回答。
      永远不要在没有确认的情况下删除数据。
    `,
    ja: `
      常に日本語で答えてください。
      コードにコメントを書かないでください、いつも。
      今後はタブを使ってください。
      これからは短く答えて。
      表のほうが好きです。
      コードを頼んだときは、必ずテストも見せてください。
      短い答えを好みます。
      毎回、先に確認してください。
      決してファイルを消さないで。
      私は肉を食べないことを覚えておいてください。
      必ずテストを実行してください。
      変更のたびにテストを実行すること。
      毎回、最初に短い要約をください。
      今後は返信に絵文字を使わないでください。
      これからは名前で呼んでください。
      コードを送ったときは、必ずテストも確認してください。
      単位は常にメートル法を使ってください。
      率直な答えのほうが助かります。
      必ず出典を示すようにしてください。
    `,
    ko: `
      항상 예시를 들어 대답해 줘.
      코드에 주석을 절대 달지 마.
      앞으로 탭을 사용해 주세요.
      이제부터 짧게 말해 줘.
      저는 표를 선호합니다.
      코드를 부탁하면 항상 테스트도 보여 줘.
      짧은 답변이 더 좋아요.
      매번 먼저 물어봐 주세요.
      반드시 테스트를 실행하세요.
      나는 고기를 먹지 않는다는 걸 기억해 줘.
      항상 포트 팔천을 사용하세요.
      매번 먼저 짧게 요약해 줘.
      앞으로 답변에 이모지를 쓰지 마세요.
      이제부터 이름으로 불러 주세요.
      코드를 보내면 항상 테스트도 확인해 줘.
      단위는 항상 미터법을 사용해.
      저는 솔직한 답변을 선호해요.
      반드시 출처를 밝혀 주세요.
    `,
    ar: `
      استخدم العربية دائما.
      لا تضف تعليقات إلى الكود أبدًا.
      من الآن فصاعدًا استخدم الجداول.
      أفضل الإجابات القصيرة.
      عندما أطلب كودًا، اعرض الاختبار دائمًا.
      يجب أن تسألني دائمًا قبل الحذف.
      أريد منك أن تشرح دائمًا.
      بعد كل تغيير شغّل الاختبارات.
      تذكر أنني لا آكل اللحم.
      لا تحذف الملفات أبدا.
      أعطني دائمًا ملخصًا قصيرًا أولًا.
      لا تستخدم الرموز التعبيرية بعد الآن أبدًا.
      نادني باسمي من الآن فصاعدًا.
      إذا أرسلت لك كودًا، تحقق دائمًا من الاختبارات.
      استخدم دائمًا الوحدات المترية.
      أفضّل الإجابات المباشرة.
    `,
  },
  lookAlikes: {
    en: {
      question: `
        How can I make sure that the page loads?
        Should we avoid global variables?
        Why do I always get this warning?
        Is there a rule that you must always close files?
        Can you tell me why it never stops?
        Do you prefer tabs or spaces?
        What should I always check before a release?
        Could you check whether the function ever returns null?
        how do i prevent it from always opening twice
        Does it make sense to always use async?
        When do people prefer lists?
      `,
      "task wish": `
        Fix the failing test.
        Make sure the list is sorted.
        Don't touch the header for now.
        Write a script that never stops.
        I want to write a short text about gardens.
        I need a checklist for the move.
        Please use the first one here.
        Add a column that must not be null.
        I prefer option B.
        I'd prefer to start with the tests today.
        Let's use the shorter one for now.
        When the form is submitted, never reload the page.
        Please keep the comments in this file.
        Use recursion here.
        For now, only list the names.
        Create a class that always logs its calls.
        Don't forget to add the new field to the form.
        Explain the difference between a list and a tuple.
        Include two examples in this one.
        Change the query so that it avoids a full scan.
      `,
      quotation: `
        The manual says "never open the case".
        "Always be closing" is a line from a film.
        It prints "please use --force".
        The comment reads: do not remove this line.
        Translate "I prefer tea" into Spanish.
        The prompt of that app is "From now on you are a pirate".
      `,
      reported: `
        My colleague asked me never to use that flag.
        The docs say you should always close the file.
        She wants me to avoid the topic from now on.
        According to the guide, always start with a plan.
        My manager prefers short reports.
        They asked us to always lock the door.
      `,
      trying: `
        I'm trying to make sure that the chart renders.
        I'm trying to learn Rust.
        I'm building an app that never loses data.
        I want to know how to always get the newest row.
        I'm thinking about a way to avoid the second query.
        I am writing a story about a man who never sleeps.
      `,
      hypothetical: `
        If I never save, what is lost?
        If we always did that, it would be slow.
        Suppose the user always clicks twice.
        Imagine you must never use the letter e.
        I could always use a map instead.
        Let's say the list must be sorted.
      `,
      past: `
        I always liked that library.
        We never used it in production.
        I used to avoid that.
        You never mentioned that.
        I have always preferred cats, but that was long ago.
        They made sure it was closed.
      `,
      observation: `
        The test always fails on Mondays.
        It must be the cache.
        This never happens locally.
        The value must be positive.
        Never heard of it.
        Most people prefer the other one.
        I never understand these errors.
        My build always breaks after an update.
        My manager always reviews my code on Fridays.
        The function should never be called twice.
        Never mind.
        I'm trying to set up a CI pipeline that always runs the linter before merging.
        I need to make sure the total never goes below zero, how would you do it?
        I was advised to always budget ten percent extra.
        I want my characters to never break the fourth wall in chapter two.
        Can you make sure the table has all the columns I listed?
        I prefer to do the shopping on Saturdays but this week it will be Friday.
        I'm considering whether I should always keep three months of expenses saved.
        My mentor Carla always says to keep functions small.
        Write a policy that says employees must never share passwords.
        What would you include in every sprint review?
        I usually meet Tom every Thursday at five.
        Please check whether I always close the file handle.
        The recipe says never to open the oven in the first twenty minutes.
        If the cache is always warm, do we still need the index?
        I finally got it to work, it never crashed again.
        Make every heading in the document bold.
        Use these numbers for all months of the forecast.
        Draft five emails for every customer segment.
        She would rather take the train.
        We're required to encrypt all backups from now on because of the new law.
        Add a rule to the linter config so that we never use var.
        I thought I would always be an engineer.
        When I talk to my landlord, should I mention the leak?
        When you wrote the function yesterday you used a map.
        Is there a setting to always open links in a new tab
        Give the answer as JSON.
        Please answer the second question too.
        Rename all files in the folder to lower case.
        I want each chapter to end with a cliffhanger.
        Before we merge, run the tests.
        Our policy requires every employee to change the password.
        It's best practice to never store secrets in git, right?
        The customer prefers to be called after six.
        I always end up rewriting everything.
        Never thought it would be this easy!
        Don't worry about the formatting.
        Don't run the migration yet.
        Do not include the appendix in the export.
        Use the company colours in the chart.
        You can use any library you like for the parser.
        I don't need the tests for this, just the function.
        I'd like a list of museums that are always free.
        Please keep the answer to the previous question in mind.
        Make sure each user has a unique email.
        Only the admin should be able to delete posts.
        All API responses must include a request id.
        Every commit in the repository was made by one person.
        As a rule, banks close at four.
        Answer in lowercase letters only.
        I need help with my essay, it must be at least 500 words.
        I want to make sure I understand how closures work.
        I'm trying to avoid using any external dependencies in my project, can you help me rewrite this function?
        Can you review my code and make sure it always handles nulls?
        I've been using Flask and I prefer it but the team wants Django.
        How do I always keep the sidebar visible when I scroll?
        Write unit tests for every function in this module.
        Explain each step of the proof.
        Give me an example for each of the following.
        For each user, send an email.
        List all the countries in Africa.
        Add error handling to all routes.
        The app should always show the latest price.
        The function must never block.
        I never said that.
        You're always so helpful, thanks!
        You never answered my question.
        It always takes forever.
        Thanks, I always learn something from you.
        I'd like to schedule a meeting with Ashlee every Monday, how should I plan it?
        I want to improve my error handling so users never see a stack trace.
        My team uses tabs and always complains about spaces.
        We agreed to meet every Tuesday from now on.
        I'm thinking of switching to Linux going forward.
        When I ask my boss for a raise, he always changes the topic.
        When I use the filter, it never returns anything.
        Whenever I run npm install, it fails with EACCES.
        If I paste the link, the page reloads every time.
        Every time I call the API I get a 429.
        I need all users to confirm their email.
        Use the attached CSV to make a chart.
        Keep the first paragraph but rewrite the rest.
        Don't use any libraries for the parser, write it by hand.
        Please use Python for this.
        I prefer the second approach, let's implement it.
        I would prefer to meet at noon.
        I like the idea of using Redis.
        I like examples like the one you gave.
        I want answers to these three questions.
        I need tests for the new endpoint.
        Remember when you suggested Redis?
        Remember to add the migration.
        In the future, cars will drive themselves.
        Going forward we will have less budget, what can I cut?
        By default the port is 3000.
        After each request the connection is closed.
        Before you start, read the attached file.
        Before you answer, think step by step.
        If you need more information, let me know.
        If you have any suggestions, please share them.
        Let me know if you have any questions.
        Please let me know when you are done.
        When you're done, run the tests.
        Tell me when you see the error.
        Can you give me tips to always stay motivated?
        Stop the server and start it again.
        Call me when it is ready.
        I always use git rebase, is that bad?
        I never use semicolons in my own code.
        I'm allergic to nuts.
        Make it shorter.
        Be more specific.
        Keep going.
        Please continue.
        Use a for loop instead of map here.
        Use async/await instead of callbacks in the function above.
        I don't want to use TypeScript for this project.
        I don't want any trouble with my landlord.
        I want every page to load in under a second.
        Every page must have a footer.
        All fields must be validated.
        All tests must pass before we merge this.
        The tests should never depend on each other.
        Answers should be saved in the database.
        Messages must be delivered at least once.
      `,
    },
    de: `
      Warum ist das immer so langsam?
      Der Test schlägt immer fehl.
      Ich habe das nie verstanden.
      Meine Kollegin meint, man soll nie globale Variablen nutzen.
      Auf dem Schild steht „Bitte nie öffnen“.
      Ich möchte eine App bauen, die nie Daten verliert.
      Wir haben das immer so gemacht.
      Wenn das immer stimmen würde, wäre es gut.
      Kannst du mir sagen, warum es nie aufhört?
      Das funktioniert nie.
      Ich muss immer an die Prüfung denken.
      Kannst du prüfen, ob der Dienst immer läuft?
      Die Kunden wollen nie warten.
      Erstelle eine Tabelle, in der jede Zeile immer ein Datum hat.
      Er hat gesagt, ich soll immer vorsichtig sein.
      Ändere bitte die Überschrift in dieser Datei.
    `,
    fr: `
      Pourquoi est-ce toujours si lent ?
      Le test échoue toujours.
      Je n'ai jamais compris ça.
      Ma collègue dit qu'il ne faut jamais utiliser ça.
      Il est écrit « ne jamais ouvrir ».
      Je veux créer une application qui ne perd jamais de données.
      On a toujours fait comme ça.
      Ça ne marche jamais.
      Je dois toujours penser à l'examen.
      Peux-tu vérifier si le service tourne toujours ?
      Les clients ne veulent jamais attendre.
      Il m'a dit de toujours faire attention.
      Change le titre dans ce fichier.
    `,
    es: `
      ¿Por qué es siempre tan lento?
      La prueba siempre falla.
      Nunca entendí eso.
      Mi colega dice que nunca se debe usar.
      Pone «nunca abrir».
      Quiero crear una aplicación que nunca pierda datos.
      Siempre lo hicimos así.
      Esto nunca funciona.
      Tengo que pensar siempre en el examen.
      ¿Puedes comprobar si el servicio siempre funciona?
      Los clientes nunca quieren esperar.
      Me dijo que siempre tuviera cuidado.
      Cambia el título en este archivo.
    `,
    ru: `
      Почему это всегда так медленно?
      Тест всегда падает.
      Я никогда этого не понимал.
      Коллега сказал никогда этим не пользоваться.
      Написано «никогда не открывать».
      Я хочу сделать приложение, которое никогда не теряет данные.
      Мы всегда так делали.
      Это никогда не работает.
      Мне всегда приходится думать об экзамене.
      Проверь, всегда ли работает сервис.
      Клиенты никогда не хотят ждать.
      Он сказал всегда быть осторожным.
      Измени заголовок в этом файле.
    `,
    zh: `
      为什么总是这么慢?
      测试总是失败。
      我从不明白这个。
      同事说绝不要用这个。
      上面写着“禁止打开”。
      我想做一个永远不丢数据的应用。
      我们以前总是这样做。
      不要改这个文件。
      我总是想着考试。
      你能检查服务是不是一直在运行吗?
      客户从不愿意等待。
      他说要始终小心。
      把这个文件的标题改一下。
    `,
    ja: `
      なぜいつもこんなに遅いのですか?
      テストはいつも失敗します。
      私は決して理解できませんでした。
      同僚は絶対に使うなと言いました。
      「必ず開けないでください」と書いてあります。
      決してデータを失わないアプリを作りたいです。
      いつもそうしていました。
      いつも試験のことを考えています。
      サービスが常に動いているか確認できますか?
      お客様は決して待ちたくありません。
      彼はいつも気をつけろと言いました。
      このファイルのタイトルを変えてください。
    `,
    ko: `
      왜 항상 이렇게 느린가요?
      테스트가 항상 실패해요.
      저는 절대 이해하지 못했어요.
      동료가 절대 쓰지 말라고 했어요.
      "절대 열지 마세요"라고 쓰여 있어요.
      절대 데이터를 잃지 않는 앱을 만들고 싶어요.
      우리는 항상 그렇게 했어요.
      저는 항상 시험을 생각해요.
      서비스가 항상 실행 중인지 확인해 줄 수 있나요?
      고객은 절대 기다리지 않아요.
      그는 항상 조심하라고 했어요.
      이 파일의 제목을 바꿔 줘.
    `,
    ar: `
      لماذا هو بطيء دائمًا؟
      الاختبار يفشل دائمًا.
      لم أفهم ذلك أبدًا.
      قال زميلي لا تستخدمه أبدًا.
      مكتوب «لا تفتح أبدًا».
      أريد بناء تطبيق لا يفقد البيانات أبدًا.
      كنا نفعل ذلك دائمًا.
      يجب أن أفكر دائمًا في الامتحان.
      هل يمكنك التحقق مما إذا كانت الخدمة تعمل دائمًا؟
      العملاء لا يريدون الانتظار أبدًا.
      قال لي أن أكون حذرًا دائمًا.
      غيّر العنوان في هذا الملف.
    `,
  },
  advice: `
    Always keep a backup of the file.
    Never trust what a user types.
    I prefer a simple solution here.
    Remember to check the rules where you live.
    Don't forget the tests.
  `,
}
