"""Catalogues of SAS: the labels of codes, for `discreet init` alone, and never for a reading."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pandas as pd
import pytest
from tests.builders import run

import discreet as dp
from discreet.engines import open_source, outline_of
from discreet.engines.base import CodeList
from discreet.errors import SourceError

pyreadstat = pytest.importorskip("pyreadstat", reason="needs the extra `surveys`")

# test_data_linux.sas7bdat and test_formats_linux.sas7bcat of pyreadstat 1.3 (Apache License 2.0), packed.
DATA = (
    r"ABzY8000000t4;V%WqUw7y$5drv++x77CUG!vwo<flXhjC8?oPTTHbOl6Fxap<rmD2^bPE!K8`0ccI1@{sb59++t#kiR@fTl%*>dq-qd>;y9hT)0sKU"
    r"SoDI1`1_^PGv9a5cg}sBd*_Bw^VLu9o&3DJ>)S6r>Ijd0Gw^=T{vBOI2g1-$k{d`WUAjYPOB(V+$&*8&yF29DlIl3Kh1vX(>6xjysoA-O$--PA|IbuQ"
    r"SI7M1*^%iJAO29Nw&jWPm&a@E>hwuSLZd@{{lonOM~7zKc=N4`b@{=*k-nk9r$-Kr^bL&mJ<}JJg^Qyj3nRm|cy-?I&%boA`ic9WICnkN?`Hr200000"
    r"00000000000000000000000000000000000000000000000000000000000000000000000C>bKoV(sM|J{xBOKw}(TxzbaRKlm)8vA{j=6j<0*Kb$a"
    r"`CMauM>StfB$ejctx7u_<v&RCGf{p%&5uU;o-{um?a$TUo98dBlaGcE(~|@FRh9p>c6xHK+zzJk;97pDY5%2Po6kGeBERxW^Zex&`K1>5u@?E2pIeOI"
    r"BEQrkKh`3@vfN_)7Wt(X`LT8K@%6gL^5HN!9(u}uAr$g|ZD8Q&sWXe^ug@Jjwoc~<FyG+dk;Su>86U`e6aVt@O+57D0{{R300000000000000000000"
    r"000000000000000000000000000000000000000000000007{T^~arJ+25<m=k{i*Z_n+@RR3eLJ5&9Yq$^YXr^%j7^&cl&Gu1C8+cVXlPPS#LpG>k{"
    r"|AQIl-<Nb|TYnj^|8mGS|Fw|q`hOj=oxjgA)?dn4|8Cfsss3bmJX8I6$hdyP=4ySVyf`1Oyt5h~PxHIO6Cnw^*P;+MuAQ^(p*`Fw=EA0Mvv{MpT-+Jj"
    r"O4;txr&!z-wuFw-x32OE+uAVeN_DQJ67R1*jVq7Ta5#;VG#-!QLK<&O;~i<-R=Fj@t|;CU#e1W;sw0h`PvcxVen+%@I@+Io(ReRJ+h2_0nJ7M*##__)"
    r"<!JjWQT%Gd{^Y{xDCWO?w-^t(O!cD~>+jkB^nUA2@9o-pZ7Z#*wlpdh+e$r~-KV3`cpXjei`sqIY#pXU74vJE{`4q^OHYwiV`*D+H?5hhrMmNx$--P="
    r"c5dqU*|#q&p1+VkbLzFlGt;Gl*{S(LZ=u{y^iD(ruQZNZop;kiT0dJhHJ;C;{`pnCuj}HwQNQ-6Uwd>;tN9I4zYWp#Pom?D<8+y=yUuRkXTMv;Z0q(>"
    r"^IOT<??9cKC6%|Wy61eIuKok%wx|Agq=`6Ry^lNBGD*YsLTBSTDgMu{M^+2xu0N1*lKS_Fy0|lnw?y%_DDHS@N7_+-ru3Hgpu29K$~)Y?`<%JGw5Q2E"
    r"Pw|<~(0W}rEZ9E*)2iE)00062"
)
CATALOGUE = (
    r"ABzY8000000t4-v|7#m%9LJwaE@_u8cUKwPm>oUsWS!8EOUl{!1$PZiR=hJ=F6-J33}cj8aTB!Kx}ja?Z=%p`AXP#C0#T-*vI(MyKR8kFHwSb0LlxOT"
    r"#r>ve?(Vr<?%USPbhPFDD&gUt&zBtU=XtJq?s*<U9KQH%;mC(uy1)DEY$w_Dwe;HdUZFdCFUe+^h{QC!qKvCP%k*W9YBAby(G^`RjH)Bm5xrU~lq#B1"
    r")y3N&uT&MaR1}SzpDaF-I=pyUx$(;2=o4oyE9Mu87xy+w!%HB9C2n%5^k7=jvg-8l=jWR0GbuTh%?!vnIVBCH9!Pn@$lQ=zlLwt^<NN=*QhCh&c>Ul0"
    r"a`|ZUeG&iw00000000000000000000;12Q@UAOkqSj-n#5+(h-eYwnk%b(|$_*48eU*R9(d-*8;3-=B8K6j3r<qmOqZa2qqH<Di^p)CLa000000JNQd"
    r"SID+amVa4S%?;K{L8~1Yn;fg1=?pUDhikh74Eh1BX7E9W-&QWEwfh3<O9eBeb|LP!Y1O=G+aF+4i@Ivqev0{R`^K!CGXb`uUeS%L%WQz{@li8wKFFpV"
    r"G;RMx{kDRpnSqM|wtPw3>8jQz^vZ}{5zEEl(W<7D!<sHa%ip7dDYdm-J}(a6qRH*JbljS%+i}VY<Aj(M_h!ia-)3CR@52DI5SuRqt6)Rko7g&+JA!jL"
    r"=PCMK{t?IwR*`X4uNY<2)2HYDu+FVKtV!ninl0Xb%6Lk%|NGDE*zVDwG1KaJYs$&^#?9*L!+P$2&m~KjPp?YO`J+1Ye-F7v%O%(Ip_ERiCHj%;pL9bG"
    r"C%;>vB~QMX&)<IXkV3okY2{3oSDzmGz&do@(&dfo?bW9z(i3S#pSt&&&?o8Z|EDJR=YCN3%)a;ftH~b~X0uh>O|5?l0pm*uA79D;F}`R_xjp&_q?}j9"
    r"!ZXKbL~Uy3+36$CtwbNrcmJP{8~Sw2x%HW+*85*>O&=Ogw#M3{Pt4QbR$HIDLiG9Bqt9t-?ObS0pRH}~KX+Q6Z6W%6{GwZ*X=+V9*_u8(+N=*tf`2cr"
    r"mOgif=yUdjTc4BE`u&O4^yyva{YMPZ=jh4c{?p%L|LI%j{b!f|{wEB5axb~{nV`mZ#&7TWvpKQ8^x0_hfu;KVfANK#vVA>}8OjdkV)CPXr*~A3WhNcZ"
    r"IOG0Zf7RR*@Dy$FPE4%;000000001hHOss8`9C|GY%I$pGl`ED)b25{C=N&qi3c6eggMW5)}j8U?*pvRT}t!&k$VnWt3X|ZA^jvy=+2Itta7{G+t4&*"
    r"Z^&IU^*?jt!!4F8STj?CoVy~=JGGMMosQefPMPs|#fY(cCSK2}9e#R>#7LKU87GCQV@AbB#@+Tk5l`C>H@E$zYiq0R?Wmi#y&Heqdm7u*88#mFmN9P|"
    r"ZD)V&!c!9f00000fc43L>U_$Q0AK(B"
)
LABELS = {"1": "Male", "2": "Female"}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.sas7bdat"
    path.write_bytes(gzip.decompress(base64.b85decode(DATA)))
    return path


@pytest.mark.parametrize("name", ["survey.sas7bcat", "formats.sas7bcat"])
def test_a_catalogue_beside_a_file_says_what_its_codes_mean(survey: Path, name: str) -> None:
    assert outline_of(survey)[1] == {}
    (survey.parent / "other.sas7bcat").write_bytes(gzip.decompress(base64.b85decode(CATALOGUE)))
    assert outline_of(survey)[1] == {}
    (survey.parent / name).write_bytes(gzip.decompress(base64.b85decode(CATALOGUE)))
    assert outline_of(survey)[1] == {"SEXA": CodeList(LABELS), "SEXB": CodeList(LABELS)}


def test_init_lists_the_codes_of_a_catalogue_with_their_labels(survey: Path) -> None:
    survey.with_suffix(".sas7bcat").write_bytes(gzip.decompress(base64.b85decode(CATALOGUE)))
    result = run("init", str(survey), "--out", str(survey.parent / "plan.toml"), "--yes")
    assert result.exit_code == 0, result.output
    plan = (survey.parent / "plan.toml").read_text()
    assert 'categories = ["1", "2"]    # 1 Male, 2 Female' in plan
    assert 'categories = ["2", "1"]    # 2 Female, 1 Male' in plan  # in the order of the catalogue


def test_a_damaged_catalogue_is_named_where_labels_are_wanted_and_ends_no_reading(survey: Path) -> None:
    survey.with_suffix(".sas7bcat").write_bytes(b"no catalogue")
    with pytest.raises(SourceError, match=r"its catalogue 'survey.sas7bcat' cannot be read"):
        outline_of(survey)
    engine = open_source(str(survey), dp.Schema(SEXA=dp.Category(["1", "2"])))
    assert engine.aggregate((), ()).rows.tolist() == [3]
    engine.close()


def test_a_catalogue_of_another_kind_of_file_is_not_looked_at(tmp_path: Path) -> None:
    pyreadstat.write_xport(pd.DataFrame({"SEXA": ["1"], "N": [1.0]}), tmp_path / "survey.xpt")
    (tmp_path / "survey.sas7bcat").write_bytes(b"no catalogue")
    assert outline_of(tmp_path / "survey.xpt")[1] == {}
