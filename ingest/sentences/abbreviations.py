"""Abbreviations after which a sentence goes on, by what has to follow.

sentencex 1.0.32 has lists of its own, which miss much: tried on the usual abbreviations of each language, it splits
after French `M.` and `Mme.`, German `Hl.`, Spanish `Dña.`, Russian `ул.`, `рис.`, most of Polish, Indian titles, and in
English `Vol.`, `Eq.`, `approx.` and `vs.`. Entries are as written, without the last dot.
"""

_ANYWHERE = """
Mr Mrs Ms Mx Dr Prof Rev Hon Gen Col Lt Capt Maj Sgt Cpl Pvt Adm Cmdr Cdr Gov Sen Rep Pres Supt Insp Msgr St Ste Mt Ft
Messrs Mmes Atty Asst Assoc Dept Mme Mlle Mlles Mgr Hrn Frl Dipl Sra Srta Srs Sres Dña Dott Sigg Dhr Mevr
vs v cf Cf viz e.g i.e approx Approx incl excl esp resp
डॉ श्री श्रीमती प्रो कु पं ডা ড মো মোঃ திரு டாக்டர் డా డాక్టర్
"""

_BY_LANGUAGE = {
    "cs": "např tj tzv popř ul nám sv Ing Mgr Bc MUDr JUDr doc prof",
    "da": "bl.a d.v.s dvs f.eks ca kr jf kl",
    "de": "z.B d.h u.a o.ä bzw vgl Vgl ggf inkl exkl zzgl Str sog gem insb ca Mio Mrd Tsd Std Hl Hr Fr Mag geb",
    "el": "κ κα Κ Δρ δρ π.χ δηλ βλ",
    "es": "Sr D Dn EE Ud Uds Vd Excmo Excma Ilmo Lic Avda p.ej aprox Gral",
    "fr": "M MM Me Vve Bd env av apr J.-C p.ex",
    "it": "Sig sig dott avv Avv geom rag arch ing prof On on Egr Gent Spett p.es ad.es",
    "nl": "dhr mevr mej bijv o.a d.w.z m.b.t i.v.m t.a.v mr ing dr drs prof ds zgn",
    "no": "bl.a d.v.s dvs f.eks ca kr jf kl",
    "pl": "np tj tzn tzw m.in ok prof dr hab inż mgr ks ul al pl os im gen płk św Św bł",
    "pt": "Sr Dra Exa V Exmo Eng Av Profa p.ex aprox",
    "ru": "ул пл просп пер пос дер обл тов гос зам инж доц акад Акад проф Проф г-н Г-н г-жа Г-жа д-р Д-р т.е т.н см",
    "sk": "napr tj tzv resp ul nám sv Ing Mgr Bc MUDr JUDr doc prof",
    "sv": "t.ex bl.a d.v.s dvs ca kr jfr kl",
    "tr": "ör örn Doç Av Alb Gn",
    "uk": "вул пл просп пров обл тов проф акад ім див напр т.зв",
}

_BEFORE_NUMBER = """
No Nos no nos Nr nr Nrs Fig Figs fig figs Eq Eqs eq eqs Sec Secs sec Sect Art Arts art arts Par Para par para paras
Vol Vols vol vols Ch Chap ch chap Cap cap Ex ex Exh Tab tab App app Cl cl Reg reg Pt pt Bk bk Ed ed Ser ser Thm Lem Prop
Def Cor Tbl Rev Ver ver p pp P Pp S s l ll n nn col cols f ff Rn Rz Ziff Abs Abschn Kap Bd Bde Anm Abb Anh Lit Nrn Hs
Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Okt Dez Mrz janv févr avr juil sept oct nov déc
núm Núm nº Nº n.º pág Pág págs párr inc ap c tel Tel fax Fax tél Tél Telef
pag pagg Pag co let
blz hfst lid afb bl
str s poz ust pkt rys tab zob rozdz nr lp r w
č čl odst písm s
рис Рис табл Табл стр Стр с гл Гл п пп ст Ст ч т № разд г гг в вв
σελ αρ άρθ παρ
sid sida kap nr
पृ सं
Cal F F.2d F.3d F.Supp U.S.C Stat Rptr Del
"""

_MAY_END = """
Inc Ltd Co Corp Cos LLC LP LLP plc Plc PLC Bros Pty Intl Mfg S.p.A S.r.l A/S GmbH Cie Cía Ltda Lda Jr Sr Esq
etc al Ph.D LL.B LL.M Ed.D n.Chr v.Chr Chr
usw usf etc enz ecc itd itp atd aj atp д тд тп др пр н.э руб коп млн млрд тыс им гр св ген κλπ κ.λπ m.fl osv vb
"""

_EVERYWHERE = frozenset(_ANYWHERE.split())
_GOES_ON = {language: _EVERYWHERE | frozenset(words.split()) for language, words in _BY_LANGUAGE.items()}


def goes_on(language: str) -> frozenset[str]:
    """Return the abbreviations of a language after which no sentence ends."""
    return _GOES_ON.get(language, _EVERYWHERE)


BEFORE_NUMBER = frozenset(_BEFORE_NUMBER.split())
"""No sentence ends here if a number, a single letter or a section sign follows."""

MAY_END = frozenset(_MAY_END.split())
"""A sentence ends here only if the next word often begins one."""

KNOWN = _EVERYWHERE | BEFORE_NUMBER | MAY_END
"""Abbreviations of any kind, in any language."""

_ORDINARY = "art con fed hr ill la may May me min miss mm mM no ok pH ref"
ORDINARY = frozenset(_ORDINARY.split())
"""English words and units that sentencex takes for abbreviations (of states, say) wherever they stand."""

_STARTERS = """
The This That These Those It He She They We You I In On At As If When While After Before For From But And Or So
However
Although Though Because Since There Here His Her Their Its Our My Your A An Each Such No Not All Any Some Most Many
Both
What Who Where Why How Under Upon With Without Then Thus Therefore Also To By During Until Unless Other Another
Der Die Das Ein Eine Er Sie Es Wir Ich Ihr Dies Diese Dieser Dieses Im Am Auf Bei Nach Mit Von Für Wenn Als Aber Und
Oder
Doch Da Dann Dort Hier So Auch Seit Zu Zum Zur In An Aus Nur Was Wer Wie Wo Seine Ihre Dabei Danach Damit Allerdings
Le La Les Un Une Il Elle Ils Elles On Nous Vous Je Ce Cette Ces Cet Dans En Sur Pour Par Avec Mais Et Ou Si Quand
Lorsque
Puis Alors Son Sa Ses Leur Leurs
El Los Las Una Él Ella Ellos Nosotros Este Esta Estos Estas Con Por Para Pero Sin Cuando Según Su Sus Al Después
También
Lo Gli I Uno Egli Essi Questo Questa Nel Nella Ma Quando Dopo Anche
O Os As Um Uma Ele Ela Eles No Na Mas Depois Também Ao
De Het Een Hij Zij Wij Ze Dit Deze Op Maar En Als Bij Voor Toen Daarna
Он Она Оно Они Мы Вы Я Это Этот Эта Эти В На По С Но И А Если Когда После Для При Как Так Также Затем Его Её Их
"""

STARTERS = frozenset(_STARTERS.split())
"""Words that often begin a sentence and are seldom names."""

ORDINAL_LANGUAGES = frozenset(
    {"de", "cs", "sk", "da", "no", "nb", "nn", "fi", "hu", "tr", "hr", "sl", "sr", "et", "lv", "is", "pl"}
)
"""Languages that write ordinals as a number with a dot: `am 3. Oktober`."""
