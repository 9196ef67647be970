"""Abbreviations after which a sentence goes on, by what has to follow.

sentencex 1.0.32 has lists of its own, which miss much: tried on the usual abbreviations of each language, it splits
after French `M.` and `Mme.`, German `Hl.`, Spanish `Dña.`, Russian `ул.`, `им.`, `рис.`, most of Polish, titles in Indian
scripts, and in English `Vol.`, `Eq.`, `approx.` and `vs.`. Entries are as written, without the last dot.
"""

_TITLES = """
Mr Mrs Ms Mx Dr Prof Rev Hon Gen Col Lt Capt Maj Sgt Cpl Pvt Adm Cmdr Cdr Gov Sen Rep Pres Supt Insp Fr Br Msgr Ven
St Ste Mt Ft Messrs Mmes Esq Atty Asst Assoc
MM Mme Mmes Mlle Mlles Mgr Me Vve Bd Bld
Hr Hrn Fr Frl Dipl Ing Mag Hl Bgm Geb
Sr Sra Srta Srs Sres Sras Dn Dña Ud Uds Vd Excmo Excma Ilmo Lic Dra Profa Av Avda EE
Sig Sigg Dott Avv Geom Rag On Arch Cav Comm Egr Gent Ill Spett
Exa Exmo Eng Engª V
Dhr Mevr Mej Mw Drs Ds
św Św bł
д-р Д-р г-н Г-н г-жа Г-жа проф Проф акад Акад им гр ул пл просп пер пос дер обл св тов гос зам ген полк инж доц
κ κα Κ Δρ δρ
डॉ श्री श्रीमती प्रो कु पं
ডা ড মো মোঃ
திரு டாக்டர்
డా డాక్టర్
"""

_ON = """
vs v cf Cf viz e.g i.e eg ie approx ca Ca resp incl excl esp repr ibid op loc Re dept Dept est Est
ft al-  abbr dial nom
env apr J.-C p.ex
z.B d.h u.a o.ä bzw vgl Vgl ggf evtl inkl exkl zzgl Str bzgl sog gem gez u.U z.T i.d.R d.i insb Mio Mrd Tsd St Std Min
p.ej aprox Aprox Gral
p.es ad.es
bijv o.a d.w.z m.b.t i.v.m t.a.v mr ing dr drs prof ds z.g zgn
np tj tzn tzw m.in ok prof dr hab inż mgr ks ul al pl os im gen płk sp
např tj tzv popř resp ul nám Ing Mgr Bc MUDr JUDr doc
т.е т.н см ср напр прибл
π.χ δηλ βλ
t.ex bl.a d.v.s dvs f.eks bl.a ca kr jf
ör örn Doç Prof
"""

_BEFORE_NUMBER = """
No Nos no nos Nr nr Nrs Fig Figs fig figs Eq Eqs eq eqs Sec Secs sec Sect Art Arts art arts Par Para par para Paras
paras
Vol Vols vol vols Ch Chap ch chap Cap cap Ex ex Exh Tab tab App app Cl cl Reg reg Pt pt Bk bk Ed ed Ser ser Thm Lem
Prop
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
Inc Ltd Co Corp Cos LLC LP L.P LLP plc Plc PLC Bros Pty Pvt Intl Mfg N.A S.A S.p.A S.r.l B.V N.V A.G A/S GmbH Cie Cía
Ltda Ltd Lda
Jr Sr Esq Ph.D M.D D.D.S B.A M.A B.S M.S J.D LL.B LL.M M.B.A Ed.D R.N C.P.A
etc al et.al U.S U.K U.N E.U U.S.A D.C L.A N.Y U.S.S.R a.m p.m A.M P.M B.C A.D B.C.E C.E n.Chr v.Chr Chr
in ft lb oz mi yd sq hr hrs min mins sec secs wk yr yrs mo max Max avg
usw u.s.w usf o.ä u.ä etc enz ecc itd itp atd aj atp д тд тп др пр н.э руб коп млн млрд тыс κλπ κ.λπ m.fl osv m.m vb
vs
"""

GOES_ON = frozenset(_TITLES.split()) | frozenset(_ON.split())
"""No sentence ends here."""

BEFORE_NUMBER = frozenset(_BEFORE_NUMBER.split())
"""No sentence ends here if a number, a single letter or a section sign follows."""

MAY_END = frozenset(_MAY_END.split())
"""A sentence ends here only if the next word often begins one."""

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
