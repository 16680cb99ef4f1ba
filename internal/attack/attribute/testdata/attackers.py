"""Writes attackers.json: probabilities and measures of scikit-learn's classifiers on small fixed data
(pip install scikit-learn==1.9.1; python3 attackers.py > attackers.json).

The trees of scikit-learn settle ties between splits at random. For a tree, probabilities are null in rows
where 200 trees with different seeds do not agree."""
import json
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

TWINS = {
    "naive-bayes-gaussian": lambda: GaussianNB(),
    "naive-bayes-bernoulli": lambda: BernoulliNB(),
    "naive-bayes-multinomial": lambda: MultinomialNB(),
    "knn-2": lambda: KNeighborsClassifier(2, algorithm="brute"),
    "knn-5": lambda: KNeighborsClassifier(5, algorithm="brute"),
    "logistic-regression": lambda: LogisticRegression(C=1, tol=1e-10, max_iter=100_000),
    "gaussian-process": lambda: GaussianProcessClassifier(kernel=RBF(1), optimizer=None),
}


def data(seed, classes, columns, high, absent=None):
    """60 users to learn from and 30 to guess, of which some columns hint at the class. high 1 gives 0 and 1;
    more gives counts; -1 gives whole numbers of either sign. absent is a class that no training user has."""
    r = np.random.default_rng(seed)
    n = 90
    y = r.integers(0, classes, n)
    rate = np.full((classes, columns), 0.12)
    for j in range(columns // 2):
        rate[j % classes, j] = 0.45
    if high < 0:
        x = r.integers(-3, 4, (n, columns)) * (r.random((n, columns)) < 0.3) + (r.random((n, columns)) < rate[y])
    else:
        x = (r.random((n, columns)) < rate[y]) * r.integers(1, high + 1, (n, columns))
    train, test = np.arange(60), np.arange(60, 90)
    if absent is not None:
        train = train[y[train] != absent]
        y[test[0]] = absent
    return x[train], y[train], x[test], y[test]


def area(y, p, classes):
    if classes == 2:
        return roc_auc_score(y, p[:, 1])
    if len(set(y)) == classes:
        return roc_auc_score(y, p, multi_class="ovr", average="macro", labels=range(classes))
    return float(np.mean([roc_auc_score(y == c, p[:, c]) for c in sorted(set(y))]))


def measures(p, y, classes):
    guess = p.argmax(1)
    return {
        "Micro": f1_score(y, guess, average="micro"),
        "Macro": f1_score(y, guess, average="macro"),
        "Weighted": f1_score(y, guess, average="weighted"),
        "Balanced": balanced_accuracy_score(y, guess),
        "AUC": area(y, p, classes),
    }


def rounded(p):
    return np.round(p, 10).tolist()


def spread(model, p, classes):
    """Probabilities of all classes; those that the training rows lack have zero."""
    out = np.zeros((len(p), classes))
    out[:, model.classes_] = p
    return out


def case(name, seed, classes, columns, high, absent=None, forest=False):
    x, y, xt, yt = data(seed, classes, columns, high, absent)
    out = {"Name": name, "Classes": classes, "X": x.tolist(), "Class": y.tolist(), "XTest": xt.tolist(), "ClassTest": yt.tolist(),
           "Attackers": {}}
    for attacker, twin in TWINS.items():
        if attacker == "naive-bayes-multinomial" and high < 0:
            continue
        m = twin().fit(x.astype(float), y)
        p = rounded(spread(m, m.predict_proba(xt.astype(float)), classes))
        out["Attackers"][attacker] = {"P": p, "Scores": measures(np.array(p), yt, classes)}
    out["Tree"] = tree(x, y, xt, classes)
    if forest:
        out["Forest"] = random_forest(x, y, xt, classes)
    return out


def tree(x, y, xt, classes):
    grown = [DecisionTreeClassifier(random_state=s).fit(x, y) for s in range(200)]
    p = np.array([spread(m, m.predict_proba(xt), classes) for m in grown])
    t = grown[0].tree_
    sides = [t.children_left[0], t.children_right[0]]
    return {
        "P": [rounded(p[0, i]) if (p[:, i] == p[0, i]).all() else None for i in range(len(xt))],
        # Gini impurity that the first split removes, times the users: the same for all ties.
        "RootGain": len(x) * t.impurity[0] - sum(t.impurity[c] * t.n_node_samples[c] for c in sides),
        "Training": float(grown[0].score(x, y)),
    }


def random_forest(x, y, xt, classes, n=200):
    """Mean of the probabilities of n forests, and standard deviation of one forest's."""
    p = np.array([spread(m, m.predict_proba(xt), classes)
                  for m in (RandomForestClassifier(random_state=s).fit(x, y) for s in range(n))])
    return {"N": n, "Mean": rounded(p.mean(0)), "Std": rounded(p.std(0, ddof=1))}


warnings.simplefilter("ignore")
cases = [
    case("two classes, 0 and 1", 1, 2, 40, 1, forest=True),
    case("three classes, 0 and 1", 2, 3, 40, 1),
    case("seven classes, 0 and 1", 3, 7, 40, 1),
    case("three classes, counts", 4, 3, 40, 5, forest=True),
    case("two classes, few columns, counts", 5, 2, 6, 4),
    case("three classes, few columns, either sign", 6, 3, 8, -1, forest=True),
    case("four classes, one absent in training", 7, 4, 40, 1, absent=1),
]
print(json.dumps(cases))
