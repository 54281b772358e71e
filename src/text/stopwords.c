/*
 * stopwords.c
 *		Lists of stop words.
 *
 * They are part of the module and not read from the server's files, so that
 * the same analysis means the same everywhere.  A list that has been released
 * never changes: another list will need another word in the analysis.
 *
 * All but the Ukrainian and the Persian ones are the lists of the Snowball
 * project, https://snowballstem.org, as PostgreSQL ships them:
 * Copyright (c) 2001, Dr Martin Porter; Copyright (c) 2004, 2005, Richard
 * Boulton; Copyright (c) 2013, Yoshiki Shibukawa; Copyright (c) 2006-2019,
 * Olly Betts; under this licence:
 *
 * Redistribution and use in source and binary forms, with or without
 * modification, are permitted provided that the following conditions are met:
 * 1. Redistributions of source code must retain the above copyright notice, this
 *    list of conditions and the following disclaimer.
 * 2. Redistributions in binary form must reproduce the above copyright notice,
 *    this list of conditions and the following disclaimer in the documentation
 *    and/or other materials provided with the distribution.
 * 3. Neither the name of the Snowball project nor the names of its contributors
 *    may be used to endorse or promote products derived from this software
 *    without specific prior written permission.
 *
 * THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS"
 * AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
 * IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
 * DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT OWNER OR CONTRIBUTORS BE LIABLE
 * FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
 * DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
 * SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
 * CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
 * OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
 * OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "text/languages.h"

static const char danish[] =
	"og i jeg det at en den til er som på de med han af for ikke der "
	"var mig sig men et har om vi min havde ham hun nu over da fra du "
	"ud sin dem os op man hans hvor eller hvad skal selv her alle vil "
	"blev kunne ind når være dog noget ville jo deres efter ned "
	"skulle denne end dette mit også under have dig anden hende mine "
	"alt meget sit sine vor mod disse hvis din nogle hos blive mange "
	"ad bliver hendes været thi jer sådan";

static const char dutch[] =
	"de en van ik te dat die in een hij het niet zijn is was op aan "
	"met als voor had er maar om hem dan zou of wat mijn men dit zo "
	"door over ze zich bij ook tot je mij uit der daar haar naar heb "
	"hoe heeft hebben deze u want nog zal me zij nu ge geen omdat "
	"iets worden toch al waren veel meer doen toen moet ben zonder "
	"kan hun dus alles onder ja eens hier wie werd altijd doch wordt "
	"wezen kunnen ons zelf tegen na reeds wil kon niets uw iemand "
	"geweest andere";

static const char english[] =
	"i me my myself we our ours ourselves you your yours yourself "
	"yourselves he him his himself she her hers herself it its itself "
	"they them their theirs themselves what which who whom this that "
	"these those am is are was were be been being have has had having "
	"do does did doing a an the and but if or because as until while "
	"of at by for with about against between into through during "
	"before after above below to from up down in out on off over "
	"under again further then once here there when where why how all "
	"any both each few more most other some such no nor not only own "
	"same so than too very s t can will just don should now";

static const char finnish[] =
	"olla olen olet on olemme olette ovat ole oli olisi olisit olisin "
	"olisimme olisitte olisivat olit olin olimme olitte olivat ollut "
	"olleet en et ei emme ette eivät minä minun minut minua minussa "
	"minusta minuun minulla minulta minulle sinä sinun sinut sinua "
	"sinussa sinusta sinuun sinulla sinulta sinulle hän hänen hänet "
	"häntä hänessä hänestä häneen hänellä häneltä hänelle me meidän "
	"meidät meitä meissä meistä meihin meillä meiltä meille te teidän "
	"teidät teitä teissä teistä teihin teillä teiltä teille he heidän "
	"heidät heitä heissä heistä heihin heillä heiltä heille tämä "
	"tämän tätä tässä tästä tähän tallä tältä tälle tänä täksi tuo "
	"tuon tuotä tuossa tuosta tuohon tuolla tuolta tuolle tuona "
	"tuoksi se sen sitä siinä siitä siihen sillä siltä sille sinä "
	"siksi nämä näiden näitä näissä näistä näihin näillä näiltä "
	"näille näinä näiksi nuo noiden noita noissa noista noihin noilla "
	"noilta noille noina noiksi ne niiden niitä niissä niistä niihin "
	"niillä niiltä niille niinä niiksi kuka kenen kenet ketä kenessä "
	"kenestä keneen kenellä keneltä kenelle kenenä keneksi ketkä "
	"keiden ketkä keitä keissä keistä keihin keillä keiltä keille "
	"keinä keiksi mikä minkä minkä mitä missä mistä mihin millä miltä "
	"mille minä miksi mitkä joka jonka jota jossa josta johon jolla "
	"jolta jolle jona joksi jotka joiden joita joissa joista joihin "
	"joilla joilta joille joina joiksi että ja jos koska kuin mutta "
	"niin sekä sillä tai vaan vai vaikka kanssa mukaan noin poikki "
	"yli kun niin nyt itse";

static const char french[] =
	"au aux avec ce ces dans de des du elle en et eux il je la le "
	"leur lui ma mais me même mes moi mon ne nos notre nous on ou par "
	"pas pour qu que qui sa se ses son sur ta te tes toi ton tu un "
	"une vos votre vous c d j l à m n s t y été étée étées étés étant "
	"étante étants étantes suis es est sommes êtes sont serai seras "
	"sera serons serez seront serais serait serions seriez seraient "
	"étais était étions étiez étaient fus fut fûmes fûtes furent sois "
	"soit soyons soyez soient fusse fusses fût fussions fussiez "
	"fussent ayant ayante ayantes ayants eu eue eues eus ai as avons "
	"avez ont aurai auras aura aurons aurez auront aurais aurait "
	"aurions auriez auraient avais avait avions aviez avaient eut "
	"eûmes eûtes eurent aie aies ait ayons ayez aient eusse eusses "
	"eût eussions eussiez eussent";

static const char german[] =
	"aber alle allem allen aller alles als also am an ander andere "
	"anderem anderen anderer anderes anderm andern anderr anders auch "
	"auf aus bei bin bis bist da damit dann der den des dem die das "
	"daß derselbe derselben denselben desselben demselben dieselbe "
	"dieselben dasselbe dazu dein deine deinem deinen deiner deines "
	"denn derer dessen dich dir du dies diese diesem diesen dieser "
	"dieses doch dort durch ein eine einem einen einer eines einig "
	"einige einigem einigen einiger einiges einmal er ihn ihm es "
	"etwas euer eure eurem euren eurer eures für gegen gewesen hab "
	"habe haben hat hatte hatten hier hin hinter ich mich mir ihr "
	"ihre ihrem ihren ihrer ihres euch im in indem ins ist jede jedem "
	"jeden jeder jedes jene jenem jenen jener jenes jetzt kann kein "
	"keine keinem keinen keiner keines können könnte machen man "
	"manche manchem manchen mancher manches mein meine meinem meinen "
	"meiner meines mit muss musste nach nicht nichts noch nun nur ob "
	"oder ohne sehr sein seine seinem seinen seiner seines selbst "
	"sich sie ihnen sind so solche solchem solchen solcher solches "
	"soll sollte sondern sonst über um und uns unse unsem unsen unser "
	"unses unter viel vom von vor während war waren warst was weg "
	"weil weiter welche welchem welchen welcher welches wenn werde "
	"werden wie wieder will wir wird wirst wo wollen wollte würde "
	"würden zu zum zur zwar zwischen";

static const char hungarian[] =
	"a ahogy ahol aki akik akkor alatt által általában amely amelyek "
	"amelyekben amelyeket amelyet amelynek ami amit amolyan amíg "
	"amikor át abban ahhoz annak arra arról az azok azon azt azzal "
	"azért aztán azután azonban bár be belül benne cikk cikkek "
	"cikkeket csak de e eddig egész egy egyes egyetlen egyéb egyik "
	"egyre ekkor el elég ellen elő először előtt első én éppen ebben "
	"ehhez emilyen ennek erre ez ezt ezek ezen ezzel ezért és fel "
	"felé hanem hiszen hogy hogyan igen így illetve ill. ill ilyen "
	"ilyenkor ison ismét itt jó jól jobban kell kellett keresztül "
	"keressünk ki kívül között közül legalább lehet lehetett legyen "
	"lenne lenni lesz lett maga magát majd majd már más másik meg még "
	"mellett mert mely melyek mi mit míg miért milyen mikor minden "
	"mindent mindenki mindig mint mintha mivel most nagy nagyobb "
	"nagyon ne néha nekem neki nem néhány nélkül nincs olyan ott "
	"össze ő ők őket pedig persze rá s saját sem semmi sok sokat "
	"sokkal számára szemben szerint szinte talán tehát teljes tovább "
	"továbbá több úgy ugyanis új újabb újra után utána utolsó vagy "
	"vagyis valaki valami valamint való vagyok van vannak volt voltam "
	"voltak voltunk vissza vele viszont volna";

static const char italian[] =
	"ad al allo ai agli all agl alla alle con col coi da dal dallo "
	"dai dagli dall dagl dalla dalle di del dello dei degli dell degl "
	"della delle in nel nello nei negli nell negl nella nelle su sul "
	"sullo sui sugli sull sugl sulla sulle per tra contro io tu lui "
	"lei noi voi loro mio mia miei mie tuo tua tuoi tue suo sua suoi "
	"sue nostro nostra nostri nostre vostro vostra vostri vostre mi "
	"ti ci vi lo la li le gli ne il un uno una ma ed se perché anche "
	"come dov dove che chi cui non più quale quanto quanti quanta "
	"quante quello quelli quella quelle questo questi questa queste "
	"si tutto tutti a c e i l o ho hai ha abbiamo avete hanno abbia "
	"abbiate abbiano avrò avrai avrà avremo avrete avranno avrei "
	"avresti avrebbe avremmo avreste avrebbero avevo avevi aveva "
	"avevamo avevate avevano ebbi avesti ebbe avemmo aveste ebbero "
	"avessi avesse avessimo avessero avendo avuto avuta avuti avute "
	"sono sei è siamo siete sia siate siano sarò sarai sarà saremo "
	"sarete saranno sarei saresti sarebbe saremmo sareste sarebbero "
	"ero eri era eravamo eravate erano fui fosti fu fummo foste "
	"furono fossi fosse fossimo fossero essendo faccio fai facciamo "
	"fanno faccia facciate facciano farò farai farà faremo farete "
	"faranno farei faresti farebbe faremmo fareste farebbero facevo "
	"facevi faceva facevamo facevate facevano feci facesti fece "
	"facemmo faceste fecero facessi facesse facessimo facessero "
	"facendo sto stai sta stiamo stanno stia stiate stiano starò "
	"starai starà staremo starete staranno starei staresti starebbe "
	"staremmo stareste starebbero stavo stavi stava stavamo stavate "
	"stavano stetti stesti stette stemmo steste stettero stessi "
	"stesse stessimo stessero stando";

static const char nepali[] =
	"अक्सर अगाडि अगाडी अझै अनुसार अन्तर्गत अन्य अन्यथा अब अरु अरू "
	"अर्का अर्की अर्को अर्थात अर्थात् अर्ब अलग अलिकति असार आइतवार आए "
	"आज आठ आत्म आदि आफू आफ्नै आफ्नो आयो आश्विन उदाहरण उन उप उही एउटै "
	"एक एकदम एकै ओठ औं कति कतै कत्रा कत्री कत्रो करोड कस कसरी कसै "
	"कस्ता कस्ती कस्तो कहिल्यै कहीं का कार्तिक कि किन किनभने कुन कुनै "
	"कुरा कृपया के केहि केही को कोही क्रमशः खर्ब गयौ चाँडै चार चाले "
	"चाहनुहुन्छ चाहन्छु चाहिए चैत चौथो छ छन् छु छू छैन छौँ छौं जताततै "
	"जति जत्रा जत्री जत्रो जब जबकि जस जस्ता जस्ती जस्तो जस्तोसुकै "
	"जहाँ जान जाहिर जुन जे जेठ जो जोसुकै ठीक त तत्काल तथा तदनुसार "
	"तपाई तपाईं तर तल तापनि तापनी तिन तिनी तिमी तिर ती तीन तुरुन्तै "
	"तेस्कारण तेस्रो त्यसकारण त्यसपछि त्यसमा त्यसैले त्यहाँ त्यो "
	"त्सपछि त्सैले थिए थिएन थिएनन् थियो थोरै दस दिए दिनुभएको "
	"दिनुहुन्छ दुई देख देखि देखिन्छ देखियो देखे देखेको देखेर देख्न "
	"दोश्रो दोस्रो धेरै न नजिकै नत्र नयाँ नि निम्ति निम्न निम्नानुसार "
	"निर्दिष्ट नै नौ पक्का पक्कै पछि पछिल्लो पटक पनि पर्छ पर्थ्यो "
	"पर्याप्त पर्सी पहिले पहिलो पहिल्यै पाँच पाँचौं पूर्व पौष प्रति "
	"प्रतेक प्रत्येक प्रथम प्लस फागुन फेरि फेरी बने बन्द बन्न बरु "
	"बाटो बारे बाहिर बाहेक बिरुद्ध बिशेष बिहिवार बीच बुधवार भए भदौ "
	"भन् भर भित्र भित्री भोलि भोली म मंसिर मङ्गलवार महिना मा माघ "
	"मात्र माथि मुख्य मेरो यति यत्ति यत्रा यत्री यत्रो यथोचित यदि "
	"यद्यपि यस यसरी यसो यस्ता यस्ती यस्तो यहाँ या यिन यिनी यी यो र "
	"रही रहेका रहेको राखे राख्छ राम्रो रूप लगभग लाई लाख लागि ले "
	"वरिपरि वरीपरी वर्ष वास्तवमा वाहेक विरुद्ध विशेष वैशाख शनिवार "
	"शायद शुक्रवार सँग सँगै संग संगै सक्छ सट्टा सधै सधैं सबै समय "
	"सम्भव सम्म सय सही साँच्चै साउन सात साथ साथै सायद सारा सुन्ना सो "
	"सोध्न सोमवार सोही स्पष्ट हजार हप्ता हरे हरेक हामी हाम्रो हिजो "
	"हुन्छ होला होस्";

static const char norwegian[] =
	"og i jeg det at en et den til er som på de med han av ikke ikkje "
	"der så var meg seg men ett har om vi min mitt ha hadde hun nå "
	"over da ved fra du ut sin dem oss opp man kan hans hvor eller "
	"hva skal selv sjøl her alle vil bli ble blei blitt kunne inn når "
	"være kom noen noe ville dere som deres kun ja etter ned skulle "
	"denne for deg si sine sitt mot å meget hvorfor dette disse uten "
	"hvordan ingen din ditt blir samme hvilken hvilke sånn inni "
	"mellom vår hver hvem vors hvis både bare enn fordi før mange "
	"også slik vært være båe begge siden dykk dykkar dei deira deires "
	"deim di då eg ein eit eitt elles honom hjå ho hoe henne hennar "
	"hennes hoss hossen ikkje ingi inkje korleis korso kva kvar "
	"kvarhelst kven kvi kvifor me medan mi mine mykje no nokon noka "
	"nokor noko nokre si sia sidan so somt somme um upp vere vore "
	"verte vort varte vart";

static const char portuguese[] =
	"de a o que e do da em um para com não uma os no se na por mais "
	"as dos como mas ao ele das à seu sua ou quando muito nos já eu "
	"também só pelo pela até isso ela entre depois sem mesmo aos seus "
	"quem nas me esse eles você essa num nem suas meu às minha numa "
	"pelos elas qual nós lhe deles essas esses pelas este dele tu te "
	"vocês vos lhes meus minhas teu tua teus tuas nosso nossa nossos "
	"nossas dela delas esta estes estas aquele aquela aqueles aquelas "
	"isto aquilo estou está estamos estão estive esteve estivemos "
	"estiveram estava estávamos estavam estivera estivéramos esteja "
	"estejamos estejam estivesse estivéssemos estivessem estiver "
	"estivermos estiverem hei há havemos hão houve houvemos houveram "
	"houvera houvéramos haja hajamos hajam houvesse houvéssemos "
	"houvessem houver houvermos houverem houverei houverá houveremos "
	"houverão houveria houveríamos houveriam sou somos são era éramos "
	"eram fui foi fomos foram fora fôramos seja sejamos sejam fosse "
	"fôssemos fossem for formos forem serei será seremos serão seria "
	"seríamos seriam tenho tem temos tém tinha tínhamos tinham tive "
	"teve tivemos tiveram tivera tivéramos tenha tenhamos tenham "
	"tivesse tivéssemos tivessem tiver tivermos tiverem terei terá "
	"teremos terão teria teríamos teriam";

static const char russian[] =
	"и в во не что он на я с со как а то все она так его но да ты к у "
	"же вы за бы по только ее мне было вот от меня еще нет о из ему "
	"теперь когда даже ну вдруг ли если уже или ни быть был него до "
	"вас нибудь опять уж вам ведь там потом себя ничего ей может они "
	"тут где есть надо ней для мы тебя их чем была сам чтоб без будто "
	"чего раз тоже себе под будет ж тогда кто этот того потому этого "
	"какой совсем ним здесь этом один почти мой тем чтобы нее сейчас "
	"были куда зачем всех никогда можно при наконец два об другой "
	"хоть после над больше тот через эти нас про всего них какая "
	"много разве три эту моя впрочем хорошо свою этой перед иногда "
	"лучше чуть том нельзя такой им более всегда конечно всю между";

static const char spanish[] =
	"de la que el en y a los del se las por un para con no una su al "
	"lo como más pero sus le ya o este sí porque esta entre cuando "
	"muy sin sobre también me hasta hay donde quien desde todo nos "
	"durante todos uno les ni contra otros ese eso ante ellos e esto "
	"mí antes algunos qué unos yo otro otras otra él tanto esa estos "
	"mucho quienes nada muchos cual poco ella estar estas algunas "
	"algo nosotros mi mis tú te ti tu tus ellas nosotras vosostros "
	"vosostras os mío mía míos mías tuyo tuya tuyos tuyas suyo suya "
	"suyos suyas nuestro nuestra nuestros nuestras vuestro vuestra "
	"vuestros vuestras esos esas estoy estás está estamos estáis "
	"están esté estés estemos estéis estén estaré estarás estará "
	"estaremos estaréis estarán estaría estarías estaríamos estaríais "
	"estarían estaba estabas estábamos estabais estaban estuve "
	"estuviste estuvo estuvimos estuvisteis estuvieron estuviera "
	"estuvieras estuviéramos estuvierais estuvieran estuviese "
	"estuvieses estuviésemos estuvieseis estuviesen estando estado "
	"estada estados estadas estad he has ha hemos habéis han haya "
	"hayas hayamos hayáis hayan habré habrás habrá habremos habréis "
	"habrán habría habrías habríamos habríais habrían había habías "
	"habíamos habíais habían hube hubiste hubo hubimos hubisteis "
	"hubieron hubiera hubieras hubiéramos hubierais hubieran hubiese "
	"hubieses hubiésemos hubieseis hubiesen habiendo habido habida "
	"habidos habidas soy eres es somos sois son sea seas seamos seáis "
	"sean seré serás será seremos seréis serán sería serías seríamos "
	"seríais serían era eras éramos erais eran fui fuiste fue fuimos "
	"fuisteis fueron fuera fueras fuéramos fuerais fueran fuese "
	"fueses fuésemos fueseis fuesen sintiendo sentido sentida "
	"sentidos sentidas siente sentid tengo tienes tiene tenemos "
	"tenéis tienen tenga tengas tengamos tengáis tengan tendré "
	"tendrás tendrá tendremos tendréis tendrán tendría tendrías "
	"tendríamos tendríais tendrían tenía tenías teníamos teníais "
	"tenían tuve tuviste tuvo tuvimos tuvisteis tuvieron tuviera "
	"tuvieras tuviéramos tuvierais tuvieran tuviese tuvieses "
	"tuviésemos tuvieseis tuviesen teniendo tenido tenida tenidos "
	"tenidas tened";

static const char swedish[] =
	"och det att i en jag hon som han på den med var sig för så till "
	"är men ett om hade de av icke mig du henne då sin nu har inte "
	"hans honom skulle hennes där min man ej vid kunde något från ut "
	"när efter upp vi dem vara vad över än dig kan sina här ha mot "
	"alla under någon eller allt mycket sedan ju denna själv detta åt "
	"utan varit hur ingen mitt ni bli blev oss din dessa några deras "
	"blir mina samma vilken er sådan vår blivit dess inom mellan "
	"sådant varför varje vilka ditt vem vilket sitta sådana vart dina "
	"vars vårt våra ert era vilkas";

static const char turkish[] =
	"acaba ama aslında az bazı belki biri birkaç birşey biz bu çok "
	"çünkü da daha de defa diye eğer en gibi hem hep hepsi her hiç "
	"için ile ise kez ki kim mı mu mü nasıl ne neden nerde nerede "
	"nereye niçin niye o sanki şey siz şu tüm ve veya ya yani";

static const char ukrainian[] =
	"а але або аби адже без би був була були було бути в вам вами вас "
	"ваш ваша ваше ваші вже ви від він вона вони воно все всі всіх "
	"всього всім весь вся де дещо для до доки дуже є ж же з за завжди "
	"зі із звідки здається й його йому її їй їм їми їх їхній і інші "
	"інша інше інший кожен кожна кожне коли кого кому крім крізь куди "
	"ледве лише має мають мене мені ми між мій мою моя моє мої може "
	"можна можуть на навіть навколо над нам нами нас наш наша наше "
	"наші не неї нею немає нема ні ніби нібито ніж ній ніколи нікого "
	"нікому ніхто ніщо них ним ними однак один одна одне от ось отже "
	"перед під по поки потім при про проте просто саме сам сама само "
	"самі свій своя своє свої свого своїх себе собі скільки та так "
	"така таке такий такі також там твій твоя твоє твої те тебе ти "
	"тим тих то тоді той того тому тобі тобою тобто тут ту ті тією "
	"тієї у усе усі усіх хіба хоч хоча хто це цей цього цьому цим цих "
	"ці цій цією цієї ця цю чи чий чия чиє чиї через чого чому чим що "
	"щоб щодо ще я яка яке який якого якому яким яких які якій якою "
	"якої якби якщо як коло б буде будуть будемо буду будеш";

static const char persian[] =
	"و در به از که این را با است برای آن یک خود تا بر هم هر یا اما "
	"نیز ما من او تو شما آنها ایشان آنان اینها همه هیچ چه چو چون اگر "
	"نه نمی می بود بودن بوده بودند باشد باشند باشم باشی باشیم باشید "
	"هست هستم هستی هستند هستیم هستید نیست نیستند شد شده شدن شدند شود "
	"شوند می‌شود می‌شوند کرد کرده کردن کردند کند کنند کنم کنی کنیم "
	"کنید می‌کند می‌کنند دارد دارند داشت داشته داشتند دارم داری داریم "
	"دارید خواهد خواهند خواهم باید شاید بی پس پیش بین روی زیر نزد سپس "
	"هنوز همان همین چنین چنان اینکه آنکه ولی بلکه مگر زیرا کجا کی چرا "
	"چگونه چند دیگر بسیار خیلی کم بیش تر ترین های هایی ای ام اند ایم "
	"اید ات اش مان تان شان آنجا اینجا اکنون البته حتی فقط تنها بعد "
	"قبل هنگام وقتی کس کسی چیزی یکی برخی بعضی توسط بدون درباره مانند "
	"مثل طور گونه جز ز کز بنابراین همچنین یعنی آیا";

const char *
language_stop_words(Language language)
{
	switch (language)
	{
		case LANGUAGE_DANISH:
			return danish;
		case LANGUAGE_DUTCH:
		case LANGUAGE_DUTCH_PORTER:
		case LANGUAGE_KRAAIJ_POHLMANN:
			return dutch;
		case LANGUAGE_ENGLISH:
		case LANGUAGE_PORTER:
		case LANGUAGE_LOVINS:
			return english;
		case LANGUAGE_FINNISH:
			return finnish;
		case LANGUAGE_FRENCH:
			return french;
		case LANGUAGE_GERMAN:
		case LANGUAGE_GERMAN2:
			return german;
		case LANGUAGE_HUNGARIAN:
			return hungarian;
		case LANGUAGE_ITALIAN:
			return italian;
		case LANGUAGE_NEPALI:
			return nepali;
		case LANGUAGE_NORWEGIAN:
			return norwegian;
		case LANGUAGE_PERSIAN:
			return persian;
		case LANGUAGE_PORTUGUESE:
			return portuguese;
		case LANGUAGE_RUSSIAN:
			return russian;
		case LANGUAGE_SPANISH:
			return spanish;
		case LANGUAGE_SWEDISH:
			return swedish;
		case LANGUAGE_TURKISH:
			return turkish;
		case LANGUAGE_UKRAINIAN:
			return ukrainian;
		default:
			return NULL;
	}
}
